import { backoffMs, type Clock, type Random, sleep } from '@sluice/platform';
import { type AppendedOffsets, BusClosedError, type BusRecord } from './bus.ts';

interface LingeringRecordsOptions {
  readonly append: (records: readonly BusRecord[]) => Promise<AppendedOffsets>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Records that wait or are in flight beyond which no more may be added. */
const maxLingering = 64;
/** An append that takes longer, in milliseconds: the bus may be unable to store anything. */
const slowAppendMs = 250;

const retry = { baseMs: 50, maxMs: 5_000 };

interface Addition {
  readonly records: readonly BusRecord[];
  readonly assertCurrent: () => void;
  readonly stored: PromiseWithResolvers<AppendedOffsets>;
}

/** Records that wait for others to share their append. One append is in flight at a time, so they keep their order. */
export class LingeringRecords {
  readonly #options: LingeringRecordsOptions;
  #waiting: Addition[] = [];
  /** Resolves when the last append has ended; never rejects. */
  #ended: Promise<void> = Promise.resolve();
  #size = 0;
  /** When the append in flight began, on the monotonic clock; undefined if there is none. */
  #appendingSince: number | undefined;

  constructor(options: LingeringRecordsOptions) {
    this.#options = options;
  }

  /** Whether a record may be added. Not while the bus is slow, so that few records are delivered that no log will have. */
  get hasRoom(): boolean {
    const { clock } = this.#options;
    const since = this.#appendingSince;
    return this.#size < maxLingering && (since === undefined || clock.monotonic() - since <= slowAppendMs);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves with the offsets of these records once they are stored, and rejects with the error of `assertCurrent`. */
  add(records: readonly BusRecord[], assertCurrent: () => void): Promise<AppendedOffsets> {
    const stored = Promise.withResolvers<AppendedOffsets>();
    this.#waiting.push({ records, assertCurrent, stored });
    this.#size += records.length;
    return stored.promise;
  }

  /** Appends what waits, after `others`. Resolves when nothing that was added before is in flight; never rejects. */
  flush(others?: Promise<void>): Promise<void> {
    if (!this.isWaiting) return this.#ended;
    const additions = this.#waiting;
    this.#waiting = [];
    this.#ended = Promise.all([this.#ended, others]).then(() => this.#appendAll(additions));
    return this.#ended;
  }

  async #appendAll(additions: readonly Addition[]): Promise<void> {
    const current = additions.filter(isCurrent);
    const records = current.flatMap((addition) => addition.records);
    this.#appendingSince = this.#options.clock.monotonic();
    try {
      const offsets = records.length === 0 ? [] : await this.#append(records);
      let from = 0;
      for (const addition of current) {
        const to = from + addition.records.length;
        addition.stored.resolve(offsets?.slice(from, to));
        from = to;
      }
    } catch (error) {
      for (const { stored } of current) stored.reject(error);
    } finally {
      this.#appendingSince = undefined;
      for (const addition of additions) this.#size -= addition.records.length;
    }
  }

  /** Repeats it here, because later records of other callers must not overtake these. */
  async #append(records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const { append, clock, random } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await append(records);
      } catch (error) {
        if (error instanceof BusClosedError) throw error;
        await sleep(clock, backoffMs(retry, attempt, random));
      }
    }
  }
}

function isCurrent({ assertCurrent, stored }: Addition): boolean {
  try {
    assertCurrent();
    return true;
  } catch (error) {
    stored.reject(error);
    return false;
  }
}
