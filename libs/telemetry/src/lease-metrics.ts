import { Counter } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

export type OwningRole = 'watcher' | 'reconciler' | 'writer';
export type PartitionTopic = 'changes' | 'mutations';

/** The metrics of one lease, until `release`. */
export interface HeldLease {
  /** Counts work that was abandoned because the lease is lost or may be. */
  fenced(): void;
  release(): void;
}

interface Held {
  readonly role: OwningRole;
  readonly scope: string;
  readonly fencingToken: number;
}

interface Lag {
  readonly topic: PartitionTopic;
  readonly partition: number;
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

/** Leases and partition lag of this process. */
export class LeaseMetrics {
  readonly #held = new Set<Held>();
  readonly #lags = new Set<Lag>();
  readonly #processed: Record<PartitionTopic, number> = { changes: 0, mutations: 0 };
  readonly #growth: Record<PartitionTopic, number> = { changes: 0, mutations: 0 };
  readonly #fenced: Counter;
  readonly #unreadable: Counter;

  constructor(exposition: Exposition) {
    const labelNames = ['role', 'scope'];
    const gauge = (name: string, help: string, of: (held: Held) => number) =>
      observableGauge(exposition, { name: `sluice_lease_${name}`, help, labelNames }, (report) => {
        for (const held of this.#held) report(of(held), { role: held.role, scope: held.scope });
      });
    gauge('held', '1 for each partition or cluster that this process owns', () => 1);
    gauge(
      'fencing_token',
      'Fencing token of each lease of this process; increases with each take-over',
      (held) => held.fencingToken,
    );
    this.#fenced = new Counter(exposition, {
      name: 'sluice_fencing_rejections_total',
      help: 'Work abandoned because the lease was lost or expired',
      labelNames,
    });
    this.#unreadable = new Counter(exposition, {
      name: 'sluice_lease_unreadable_entries_total',
      help: 'Unreadable entries that this process has removed from the leases in the store',
      labelNames: ['role'],
    });
    const lag = {
      name: 'sluice_partition_lag_records',
      help: 'Records in a partition of this process that are not yet processed',
      labelNames: ['topic', 'partition'],
    };
    observableGauge(exposition, lag, async (report) => {
      const lags = [...this.#lags];
      const found = await Promise.all(lags.map(({ records }) => records()));
      for (const [i, { topic, partition }] of lags.entries()) {
        const records = found[i];
        if (records !== undefined) report(records, { topic, partition });
      }
    });
  }

  /** `scope`: the partition number, or the cluster name. */
  hold(role: OwningRole, scope: string, fencingToken: number): HeldLease {
    const held: Held = { role, scope, fencingToken };
    this.#held.add(held);
    // Exposed as 0 from the start, so that rate() sees the first increase.
    const fenced = this.#fenced.series({ role, scope });
    return {
      fenced: () => fenced.inc(),
      release: () => void this.#held.delete(held),
    };
  }

  /** Returns what counts entries of the role's lease group that nobody could read. */
  unreadable(role: OwningRole): (entries: number) => void {
    const unreadable = this.#unreadable.series({ role });
    return (entries) => unreadable.inc(entries);
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

  /** Exposes the lag of a partition, unless `records` returns undefined, until the returned function is called. */
  showLag(topic: PartitionTopic, partition: number, records: () => Promise<number | undefined>): () => void {
    const lag: Lag = { topic, partition, records, last: undefined };
    this.#lags.add(lag);
    return () => void this.#lags.delete(lag);
  }
}
