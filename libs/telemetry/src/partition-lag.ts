import type { Clock } from '@sluice/platform';
import { SharedRequest } from './shared-request.ts';

export type PartitionTopic = 'changes' | 'mutations';

/** The part of a bus that knows the end of a partition. */
interface PartitionEnds {
  end(topic: PartitionTopic, partition: number): Promise<{ readonly offset: number }>;
}

export interface PartitionLag {
  /** All records up to this offset are processed. */
  reached(offset: number): void;
  close(): void;
}

/** Exposes the number of unprocessed records of a partition. Reads the end of the partition at each scrape. */
export function partitionLag(
  metrics: { readonly lags: PartitionLags } | undefined,
  { bus, clock }: { readonly bus: PartitionEnds; readonly clock: Clock },
  topic: PartitionTopic,
  partition: number,
): PartitionLag {
  let offset: number | undefined;
  const end = new SharedRequest(clock, () => bus.end(topic, partition));
  const records = async (): Promise<number | undefined> => {
    if (offset === undefined) return undefined;
    try {
      // A recreated stream may end before the offset.
      return Math.max(0, (await end.send()).offset - offset);
    } catch {
      return undefined;
    }
  };
  const hide = metrics?.lags.show(topic, partition, records);
  return {
    reached(to) {
      if (offset !== undefined && to > offset) metrics?.lags.advance(topic, to - offset);
      offset = to;
    },
    close: () => hide?.(),
  };
}

interface Lag {
  readonly topic: PartitionTopic;
  readonly records: () => Promise<number | undefined>;
  /** What `backlog` has seen last. */
  last: number | undefined;
}

export interface Backlog {
  /** Records that are not yet processed. */
  readonly records: number;
  /** Records that have arrived since the start, minus those that were processed. */
  readonly growth: number;
}

/** Exposes a lag until the returned function is called. */
type Expose = (
  labels: { readonly topic: PartitionTopic; readonly partition: number },
  records: () => Promise<number | undefined>,
) => () => void;

/** The lag of all partitions of this process. */
export class PartitionLags {
  readonly #expose: Expose;
  readonly #lags = new Set<Lag>();
  readonly #processed: Record<PartitionTopic, number> = { changes: 0, mutations: 0 };
  readonly #growth: Record<PartitionTopic, number> = { changes: 0, mutations: 0 };

  constructor(expose: Expose) {
    this.#expose = expose;
  }

  /** Exposes the lag of a partition, unless `records` returns undefined, until the returned function is called. */
  show(topic: PartitionTopic, partition: number, records: () => Promise<number | undefined>): () => void {
    const lag: Lag = { topic, records, last: undefined };
    this.#lags.add(lag);
    const hide = this.#expose({ topic, partition }, records);
    return () => {
      this.#lags.delete(lag);
      hide();
    };
  }

  /** Counts processed records. */
  advance(topic: PartitionTopic, records: number): void {
    this.#processed[topic] += records;
  }

  /** Records of a topic that this process has processed since its start. */
  processed(topic: PartitionTopic): number {
    return this.#processed[topic];
  }

  /** The backlog of the partitions of this process, as far as the bus answers. */
  async backlog(topic: PartitionTopic): Promise<Backlog> {
    const lags = [...this.#lags].filter((lag) => lag.topic === topic);
    const found = await Promise.all(lags.map(({ records }) => records()));
    for (const [i, lag] of lags.entries()) {
      const records = found[i] ?? lag.last;
      // What a former owner has left is no growth.
      this.#growth[topic] += (records ?? 0) - (lag.last ?? records ?? 0);
      lag.last = records;
    }
    return { records: lags.reduce((sum, { last = 0 }) => sum + last, 0), growth: this.#growth[topic] };
  }
}
