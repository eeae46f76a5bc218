import type { AppendedOffsets, Bus, BusRecord, Topic } from '@sluice/bus';
import { type Clock, sleep } from '@sluice/platform';

/** A bus whose appends take a millisecond. Counts records by topic and passes each through `rewrite`. */
export class RewritingBus implements Bus {
  readonly partitions: number;
  readonly counts: Record<Topic, number> = { changes: 0, mutations: 0, requests: 0 };
  readonly #inner: Bus;
  readonly #clock: Clock;
  readonly #rewrite: (topic: Topic, record: BusRecord) => BusRecord;

  constructor(inner: Bus, clock: Clock, rewrite: (topic: Topic, record: BusRecord) => BusRecord = (_, same) => same) {
    this.partitions = inner.partitions;
    this.#inner = inner;
    this.#clock = clock;
    this.#rewrite = rewrite;
  }

  get limits() {
    return this.#inner.limits;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    await sleep(this.#clock, 1);
    this.counts[topic] += records.length;
    return this.#inner.append(
      topic,
      partition,
      records.map((record) => this.#rewrite(topic, record)),
    );
  }

  read: Bus['read'] = (...args) => this.#inner.read(...args);
  beginning: Bus['beginning'] = (...args) => this.#inner.beginning(...args);
  end: Bus['end'] = (...args) => this.#inner.end(...args);

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** The message with the next major version. */
export function nextMajorVersion({ key, id, headers, payload }: BusRecord): BusRecord {
  const message = { ...JSON.parse(new TextDecoder().decode(payload)), version: '2.0' };
  return { key, id, headers, payload: new TextEncoder().encode(JSON.stringify(message)) };
}
