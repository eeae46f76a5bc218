import type { AppendedOffsets, Bus, BusRecord, Delivery, Topic } from '@sluice/bus';
import { type Clock, type Random, randomInteger, sleep } from '@sluice/platform';
import type { SimulatedBus } from './simulated-bus.ts';

/** Faults of appends to a topic, each with its probability. */
export interface AppendFaults {
  /** Some of the records are lost, and the append succeeds. */
  readonly lose: number;
  /** The records arrive twice, the second time up to some seconds later. */
  readonly duplicate: number;
  /** The append takes up to a second. */
  readonly delay: number;
  /** The append has no effect and fails. */
  readonly fail: number;
  /** The first of several records are appended, and the append fails. */
  readonly failInPart: number;
  /** The append takes effect and fails. */
  readonly failAfter: number;
}

export const noAppendFaults: AppendFaults = {
  ...{ lose: 0, duplicate: 0, delay: 0, fail: 0, failInPart: 0, failAfter: 0 },
};

export interface BusObserver {
  /** A process has sent records. */
  sent(member: string, topic: Topic, partition: number, records: readonly BusRecord[]): void;
  /** An append of the process has succeeded. */
  appended(member: string, topic: Topic, partition: number, records: readonly BusRecord[]): void;
  /** Records were lost although the append succeeded. */
  lost(topic: Topic, partition: number, records: readonly BusRecord[]): void;
  delivered(member: string, topic: Topic, partition: number, records: readonly Delivery[]): void;
  released(member: string, topic: Topic, partition: number, offset: number): void;
  /** The process has learned the end of a log. */
  ended(member: string, topic: Topic, partition: number, offset: number): void;
}

export interface FaultyBusOptions {
  readonly bus: SimulatedBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: BusObserver;
  /** Records that a reader gets at once, at most. Null: no limit. */
  readonly recordsPerRead: number | null;
  /** Whether the bus silently drops a record, because a layer is disabled. */
  readonly swallows: (topic: Topic, record: BusRecord) => boolean;
}

/** A bus whose appends fail in every way that a connection and a server allow. */
export class FaultyBus {
  readonly #options: FaultyBusOptions;
  readonly #faults = new Map<Topic, AppendFaults>();

  constructor(options: FaultyBusOptions) {
    this.#options = options;
  }

  setFaults(topic: Topic, faults: AppendFaults): void {
    this.#faults.set(topic, faults);
  }

  clear(): void {
    this.#faults.clear();
  }

  /** The bus as one process sees it. */
  connect(member: string): Bus {
    const { bus, observer, recordsPerRead } = this.#options;
    return {
      partitions: bus.partitions,
      get limits() {
        return bus.limits;
      },
      append: async (topic, partition, records) => {
        observer.sent(member, topic, partition, records);
        const offsets = await this.#append(topic, partition, records);
        observer.appended(member, topic, partition, records);
        // A record that was lost has none.
        return offsets?.length === records.length ? offsets : undefined;
      },
      read: (topic, partition, after) => {
        const reader = bus.read(topic, partition, after);
        return {
          get streamId() {
            return reader.streamId;
          },
          async next(max) {
            const records = await reader.next(Math.min(max, recordsPerRead ?? max));
            observer.delivered(member, topic, partition, records);
            return records;
          },
          release: (offset) => {
            observer.released(member, topic, partition, offset);
            reader.release(offset);
          },
          close: () => reader.close(),
        };
      },
      beginning: (topic, partition) => bus.beginning(topic, partition),
      end: async (topic, partition) => {
        const end = await bus.end(topic, partition);
        observer.ended(member, topic, partition, end.offset);
        return end;
      },
      close: () => Promise.resolve(),
    };
  }

  async #append(topic: Topic, partition: number, given: readonly BusRecord[]): Promise<AppendedOffsets> {
    const { bus, clock, random, observer, swallows } = this.#options;
    const records = given.filter((record) => !swallows(topic, record));
    const faults = this.#faults.get(topic) ?? noAppendFaults;
    if (random.next() < faults.delay) await sleep(clock, randomInteger(random, 1, 1_000));
    if (random.next() < faults.fail) throw new Error('injected: not appended');
    if (random.next() < faults.failInPart) {
      await bus.append(topic, partition, records.slice(0, randomInteger(random, 0, records.length - 1)));
      throw new Error('injected: appended in part');
    }
    const lost = random.next() < faults.lose ? records.filter((_, i) => i === 0 || random.next() < 0.5) : [];
    if (lost.length > 0) observer.lost(topic, partition, lost);
    const offsets = await bus.append(
      topic,
      partition,
      records.filter((record) => !lost.includes(record)),
    );
    if (random.next() < faults.duplicate) {
      clock.schedule(randomInteger(random, 0, 3_000), () => void bus.append(topic, partition, records));
    }
    if (random.next() < faults.failAfter) throw new Error('injected: appended, and reported as failed');
    return offsets;
  }
}
