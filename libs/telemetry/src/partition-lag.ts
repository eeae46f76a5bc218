import type { Clock } from '@sluice/runtime';
import type { PartitionTopic } from './lease-metrics.ts';
import type { Metrics } from './metrics.ts';
import { SharedRequest } from './shared-request.ts';

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
  metrics: Metrics | undefined,
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
  const hide = metrics?.leases.showLag(topic, partition, records);
  return {
    reached(to) {
      if (offset !== undefined && to > offset) metrics?.leases.advance(topic, to - offset);
      offset = to;
    },
    close: () => hide?.(),
  };
}
