import {
  type Bus,
  BusClosedError,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type Topic,
} from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';
import { type Clock, type Logger, type Random, runWithBackoff } from '@sluice/runtime';
import type { History } from '../history/history.ts';

export interface FollowOptions {
  readonly bus: Bus;
  readonly history: History;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const followed: readonly Topic[] = ['changes', 'mutations'];
const recordsRead = 512;

/**
 * Reads `changes` and `mutations` from the oldest record that is kept, and goes on until `signal` aborts. Where the log
 * was lost it begins again with what is there. Nothing is appended and nothing released: nobody notices it.
 */
export class BusFollower {
  readonly #options: FollowOptions;
  readonly #behind = new Set<string>();
  readonly #caughtUp = Promise.withResolvers<void>();

  constructor(options: FollowOptions) {
    this.#options = options;
    for (const topic of followed) {
      for (let partition = 0; partition < options.bus.partitions; partition++)
        this.#behind.add(`${topic}/${partition}`);
    }
  }

  /** Resolves once all that was in the log when the following began is kept. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Logs of which older records are still being read. */
  get behind(): number {
    return this.#behind.size;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    const isFatal = (error: unknown) => error instanceof BusClosedError;
    const ports = { clock, random, logger, isFatal };
    const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
    await Promise.all(
      followed.flatMap((topic) =>
        partitions.map((partition) => runWithBackoff(() => this.#follow(topic, partition, signal), ports, signal)),
      ),
    );
  }

  async #follow(topic: Topic, partition: number, signal: AbortSignal): Promise<void> {
    const { bus, logger } = this.#options;
    while (!signal.aborted) {
      const [oldest, end] = await Promise.all([bus.beginning(topic, partition), bus.end(topic, partition)]);
      if (oldest.offset >= end.offset) this.#reached(topic, partition);
      try {
        const reader = bus.read(topic, partition, oldest);
        await readUntilAborted(reader, signal, (open) => this.#keep(open, topic, partition, end.offset));
        return;
      } catch (error) {
        if (!isLogTruncatedError(error)) throw error;
        logger.warn('gap in history; records were lost', { topic, partition, error });
      }
    }
  }

  async #keep(reader: PartitionReader, topic: Topic, partition: number, end: number): Promise<void> {
    let begun = false;
    for (;;) {
      const records = await reader.next(recordsRead);
      if (records.length === 0) return;
      const first: number | undefined = begun ? undefined : firstTime(records);
      if (first !== undefined) this.#options.history.reachesBackTo(first);
      begun ||= first !== undefined;
      for (const record of records) this.#options.history.add(topic, record);
      if ((records.at(-1)?.offset ?? 0) >= end) this.#reached(topic, partition);
    }
  }

  #reached(topic: Topic, partition: number): void {
    this.#behind.delete(`${topic}/${partition}`);
    if (this.#behind.size === 0) this.#caughtUp.resolve();
  }
}

/** The earliest time that one of some records is about; undefined if none tells. */
function firstTime(records: readonly Delivery[]): number | undefined {
  for (const { payload } of records) {
    const at = timeOf(payload);
    if (at !== undefined) return at;
  }
  return undefined;
}

function timeOf(payload: Uint8Array): number | undefined {
  try {
    const message = decodeMessage(payload);
    if (message.kind === 'change') return message.causes.first[0]?.observedAt;
    return 'decidedAt' in message ? message.decidedAt : undefined;
  } catch {
    // Whoever works on it sets it aside and says so.
    return undefined;
  }
}
