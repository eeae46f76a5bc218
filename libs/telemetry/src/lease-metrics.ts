import { type Count, counted } from './series/counted.ts';
import type { Exposition } from './series/exposition.ts';
import type { Labelled } from './series/labelled.ts';
import { shown } from './series/shown.ts';

export type OwningRole = 'watcher' | 'reconciler' | 'writer';
export type PartitionTopic = 'changes' | 'mutations';

/** One lease, for as long as this process holds it. */
export interface HeldLease {
  /** The store, or this process itself, refused to go on under it. */
  fenced(): void;
  release(): void;
}

interface Held {
  readonly role: OwningRole;
  readonly scope: string;
  readonly epoch: number;
}

interface Lag {
  readonly topic: PartitionTopic;
  readonly partition: number;
  readonly records: () => Promise<number | undefined>;
}

/** What this process owns in its fleet, and how far behind it is. */
export class LeaseMetrics {
  readonly #held = new Set<Held>();
  readonly #lags = new Set<Lag>();
  readonly #fenced: Labelled<Count>;

  constructor(exposition: Exposition) {
    const labelNames = ['role', 'scope'];
    const gauge = (name: string, help: string, of: (held: Held) => number) =>
      shown(exposition, { name: `sluice_lease_${name}`, help, labelNames }, (show) => {
        for (const held of this.#held) show(of(held), held.role, held.scope);
      });
    gauge('held', '1 for each partition, lane or cluster that this process owns', () => 1);
    gauge('epoch', 'Epoch of each lease that this process holds; it rises with each new owner', ({ epoch }) => epoch);
    this.#fenced = counted(exposition, {
      name: 'sluice_fence_rejections_total',
      help: 'Work that was given up because somebody else owns it by now, or may',
      labelNames,
    });
    const lag = {
      name: 'sluice_partition_lag_records',
      help: 'Records of a partition of this process that it is not done with',
      labelNames: ['topic', 'partition'],
    };
    shown(exposition, lag, async (show) => {
      const lags = [...this.#lags];
      const found = await Promise.all(lags.map(({ records }) => records()));
      for (const [i, { topic, partition }] of lags.entries()) {
        const records = found[i];
        if (records !== undefined) show(records, topic, String(partition));
      }
    });
  }

  /** `scope`: the number of a partition, or the name of a cluster. */
  hold(role: OwningRole, scope: string, epoch: number): HeldLease {
    const held: Held = { role, scope, epoch };
    this.#held.add(held);
    // Shown as 0 from the start, so that the first one is seen as a rise.
    const fenced = this.#fenced.of(role, scope);
    return {
      fenced: () => fenced.inc(),
      release: () => void this.#held.delete(held),
    };
  }

  /** Shows the lag of a partition, where `records` knows it, for as long as the returned function is not called. */
  showLag(topic: PartitionTopic, partition: number, records: () => Promise<number | undefined>): () => void {
    const lag: Lag = { topic, partition, records };
    this.#lags.add(lag);
    return () => void this.#lags.delete(lag);
  }
}
