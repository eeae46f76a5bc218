import type { Bus } from '@sluice/bus';
import type { Clock } from '@sluice/runtime';
import type { Metrics, PartitionTopic } from '@sluice/telemetry';
import { Inquiry } from './inquiry.ts';

export interface PartitionLag {
  /** Everything up to this offset is done with. */
  reached(offset: number): void;
  close(): void;
}

/** Shows how many records of a partition its owner is not done with. The bus is asked when somebody looks. */
export function partitionLag(
  metrics: Metrics | undefined,
  { bus, clock }: { readonly bus: Bus; readonly clock: Clock },
  topic: PartitionTopic,
  partition: number,
): PartitionLag {
  let offset: number | undefined;
  const end = new Inquiry(clock, () => bus.end(topic, partition));
  const records = async (): Promise<number | undefined> => {
    if (offset === undefined) return undefined;
    try {
      // A log that was made anew may end before the offset.
      return Math.max(0, (await end.ask()).offset - offset);
    } catch {
      return undefined;
    }
  };
  const hide = metrics?.leases.showLag(topic, partition, records);
  return {
    reached(to) {
      offset = to;
    },
    close: () => hide?.(),
  };
}
