import {
  type Bus,
  BusClosedError,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type Topic,
} from '@sluice/bus';
import type { Message } from '@sluice/messages';
import { type Clock, type Logger, type Random, runWithBackoff } from '@sluice/platform';
import type { History } from '../history/history.ts';
import { messageOf, retain } from '../history/retained-record.ts';
import type { RecordSink } from '../ports.ts';

interface FollowerOptions {
  readonly bus: Bus;
  readonly history: History;
  /** Receives the same records. */
  readonly recorder?: RecordSink | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const topics: readonly Topic[] = ['changes', 'mutations'];
/**
 * Reads `changes` and `mutations` from the oldest record into the history until `signal` aborts. Continues at the beginning
 * of a log that was truncated. Neither appends nor acknowledges records.
 */
export class BusFollower {
  readonly #options: FollowerOptions;
  readonly #behind = new Set<string>();
  readonly #caughtUp = Promise.withResolvers<void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    for (const topic of topics) {
      for (let partition = 0; partition < options.bus.partitions; partition++)
        this.#behind.add(`${topic}/${partition}`);
    }
  }

  /** Resolves when all records that existed at the start are in the history. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Number of logs whose older records are still being read. */
  get behind(): number {
    return this.#behind.size;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    const isFatal = (error: unknown) => error instanceof BusClosedError;
    const ports = { clock, random, logger, isFatal };
    const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
    await Promise.all(
      topics.flatMap((topic) =>
        partitions.map((partition) => runWithBackoff(() => this.#follow(topic, partition, signal), ports, signal)),
      ),
    );
  }

  async #follow(topic: Topic, partition: number, signal: AbortSignal): Promise<void> {
    const { bus, logger } = this.#options;
    while (!signal.aborted) {
      const [oldest, end] = await Promise.all([bus.beginning(topic, partition), bus.end(topic, partition)]);
      if (oldest.offset >= end.offset) this.#reachedEnd(topic, partition);
      try {
        const reader = bus.read(topic, partition, oldest);
        await readUntilAborted(reader, signal, (open) =>
          ingest(open, this.#options, { topic, partition }, (offset) => {
            if (offset >= end.offset) this.#reachedEnd(topic, partition);
            return false;
          }),
        );
        return;
      } catch (error) {
        if (!isLogTruncatedError(error)) throw error;
        logger.warn('gap in history; records were lost', { topic, partition, error });
      }
    }
  }

  #reachedEnd(topic: Topic, partition: number): void {
    this.#behind.delete(`${topic}/${partition}`);
    if (this.#behind.size === 0) this.#caughtUp.resolve();
  }
}

const batchSize = 512;

/** Reads the records of a log into history and recording until the reader is closed, or `isEnd` is true of the last offset that was read. */
export async function ingest(
  reader: PartitionReader,
  { history, recorder }: Pick<FollowerOptions, 'history' | 'recorder'>,
  { topic, partition }: { readonly topic: Topic; readonly partition: number },
  isEnd: (offset: number) => boolean,
): Promise<void> {
  let hasStart = false;
  for (;;) {
    const records = await reader.next(batchSize);
    const start = hasStart ? undefined : firstTime(records);
    if (start !== undefined) {
      hasStart = true;
      history.extendBack(start);
    }
    for (const record of records) {
      history.add(topic, partition, record);
      recorder?.add(topic, record);
    }
    const last = records.at(-1);
    if (last === undefined || isEnd(last.offset)) return;
  }
}

/** Time of the first record that has one. */
export function firstTime(records: readonly Delivery[]): number | undefined {
  for (const record of records) {
    const message = messageOf(retain(record, 0));
    const at = message?.kind === 'change' ? message.causes.first[0]?.observedAt : decidedAt(message);
    if (at !== undefined) return at;
  }
  return undefined;
}

const decidedAt = (message: Message | undefined) =>
  message !== undefined && 'decidedAt' in message ? message.decidedAt : undefined;
