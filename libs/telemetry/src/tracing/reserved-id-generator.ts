import type { IdGenerator } from '@opentelemetry/sdk-trace';
import { spanIdOf, type TraceContext, traceIdOf } from '@sluice/messages';
import type { Random } from '@sluice/runtime';

/**
 * Gives a span the ids that were chosen before it existed. A message carries the id of its span from before it is published,
 * and the SDK creates the span after that, so each id is reserved for the next span.
 */
export class ReservedIdGenerator implements IdGenerator {
  readonly #random: Random;
  readonly #bytes = Buffer.alloc(16);
  #reserved: TraceContext | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Calls `startSpan`, which starts one span, with the ids of `context`. */
  withIds<T>(context: TraceContext, startSpan: () => T): T {
    this.#reserved = context;
    try {
      return startSpan();
    } finally {
      this.#reserved = undefined;
    }
  }

  generateTraceId(): string {
    return this.#reserved === undefined ? this.#id(16) : traceIdOf(this.#reserved);
  }

  generateSpanId(): string {
    return this.#reserved === undefined ? this.#id(8) : spanIdOf(this.#reserved);
  }

  #id(bytes: 8 | 16): string {
    // From 1 to 2³² − 1, because an id of zeros is invalid.
    for (let at = 0; at < bytes; at += 4) {
      this.#bytes.writeUInt32BE(1 + Math.floor(this.#random.next() * 0xffff_ffff), at);
    }
    return this.#bytes.toString('hex', 0, bytes);
  }
}
