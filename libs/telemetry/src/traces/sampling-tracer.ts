import { type TraceParent, traceParent, withSpan } from '@sluice/messages';
import type { Random } from '@sluice/runtime';
import type { Span, Tracer } from './tracer.ts';

export interface SamplingTracerOptions {
  /** Share of the traces that are recorded from their beginning, 0 to 1. */
  readonly ratio: number;
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  /** For ids: not one whose sequence something else depends on. */
  readonly random: Random;
  readonly sink: (span: Span) => void;
}

/** Decides where a trace begins (by its id, as OpenTelemetry's ratio does); whoever continues it goes by that. */
export class SamplingTracer implements Tracer {
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  readonly #options: SamplingTracerOptions;
  /** Of the ids that are being made; one text of all their digits is cheaper than many. */
  readonly #words = Buffer.alloc(24);

  constructor(options: SamplingTracerOptions) {
    this.slowMs = options.slowMs;
    this.systems = options.systems;
    this.#options = options;
  }

  begin(): TraceParent {
    // The last word of the trace's id decides.
    for (let at = 0; at < 24; at += 4) this.#words.writeUInt32BE(this.#word(), at);
    const last = this.#words.readUInt32BE(12);
    const ids = this.#words.toString('hex');
    return traceParent(ids.slice(0, 32), ids.slice(32), last <= this.#options.ratio * 0xffff_ffff);
  }

  child(of: TraceParent): TraceParent {
    this.#words.writeUInt32BE(this.#word(), 0);
    this.#words.writeUInt32BE(this.#word(), 4);
    return withSpan(of, this.#words.toString('hex', 0, 8));
  }

  record(span: Span): void {
    this.#options.sink(span);
  }

  /** From 1 to 2³² − 1: an id must not be zero. */
  #word(): number {
    return 1 + Math.floor(this.#options.random.next() * 0xffff_ffff);
  }
}
