import { type Cancel, type Clock, sleep } from '@sluice/runtime';

export interface SpanBufferOptions<T> {
  readonly clock: Clock;
  /** Delivers a batch, or rejects if it cannot be; the batch is then lost. One call at a time. */
  readonly send: (batch: readonly T[]) => Promise<void>;
  /** Told when a delivery fails after one that did not, and the other way round. */
  readonly onState?: (delivers: boolean, reason: string) => void;
  /** Spans that wait at most; more are dropped. Default 8192. */
  readonly capacity?: number;
  /** Spans of one delivery at most. Default 512. */
  readonly batch?: number;
  /** How long the first span of a batch waits for the others. Default 5000, OpenTelemetry's own: each delivery costs. */
  readonly delayMs?: number;
}

/** What became of the spans so far. */
export interface SpanCounts {
  readonly sent: number;
  /** There was no room. */
  readonly overflown: number;
  /** They could not be delivered. */
  readonly undelivered: number;
}

/**
 * Keeps spans until they are delivered, in batches. Bounded: whoever tells of a span never waits, and what a collector
 * that is slow or away does not take is dropped and counted.
 */
export class SpanBuffer<T> {
  readonly #options: SpanBufferOptions<T>;
  readonly #capacity: number;
  readonly #batch: number;
  #waiting: T[] = [];
  #timer: Cancel | undefined;
  #sending: Promise<void> | undefined;
  #delivers = true;
  #counts = { sent: 0, overflown: 0, undelivered: 0 };

  constructor(options: SpanBufferOptions<T>) {
    this.#options = options;
    this.#capacity = options.capacity ?? 8192;
    this.#batch = options.batch ?? 512;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  add(span: T): void {
    if (this.#waiting.length >= this.#capacity) {
      this.#counts.overflown++;
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= this.#batch) this.#start();
    else this.#timer ??= this.#options.clock.schedule(this.#options.delayMs ?? 5_000, () => this.#start());
  }

  /** Delivers what waits, for as long as `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const delivered = new AbortController();
    const all = (async () => {
      while (this.#waiting.length > 0 || this.#sending !== undefined) {
        if (this.#sending === undefined) this.#start();
        await this.#sending;
      }
      delivered.abort();
    })();
    await Promise.race([all, sleep(this.#options.clock, limitMs, delivered.signal)]);
  }

  #start(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, this.#batch);
      this.#waiting = this.#waiting.slice(this.#batch);
      try {
        await this.#options.send(batch);
        this.#counts.sent += batch.length;
        this.#tell(true, '');
      } catch (error) {
        this.#counts.undelivered += batch.length;
        this.#tell(false, error instanceof Error ? error.message : String(error));
      }
    }
  }

  #tell(delivers: boolean, reason: string): void {
    if (delivers === this.#delivers) return;
    this.#delivers = delivers;
    this.#options.onState?.(delivers, reason);
  }
}
