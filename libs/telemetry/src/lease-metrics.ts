import { Counter, Gauge, type Registry } from 'prom-client';

export type OwningRole = 'watcher' | 'reconciler' | 'writer';
export type PartitionTopic = 'changes' | 'mutations';

/** One lease, for as long as this process holds it. */
export interface HeldLease {
  /** The store, or this process itself, refused to go on under it. */
  fenced(): void;
  release(): void;
}

interface Held {
  readonly labels: { readonly role: OwningRole; readonly scope: string };
  readonly epoch: number;
}

interface Lag {
  readonly labels: { readonly topic: PartitionTopic; readonly partition: number };
  readonly records: () => Promise<number | undefined>;
}

/** What this process owns in its fleet, and how far behind it is. */
export class LeaseMetrics {
  readonly #held = new Set<Held>();
  readonly #lags = new Set<Lag>();
  readonly #fenced: Counter;

  constructor(registry: Registry) {
    const [held, lags, registers] = [this.#held, this.#lags, [registry]];
    const labelNames = ['role', 'scope'];
    new Gauge({
      name: 'sluice_lease_held',
      help: '1 for each partition, lane or cluster that this process owns',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels } of held) this.set({ ...labels }, 1);
      },
    });
    new Gauge({
      name: 'sluice_lease_epoch',
      help: 'Epoch of each lease that this process holds; it rises with each new owner',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, epoch } of held) this.set({ ...labels }, epoch);
      },
    });
    this.#fenced = new Counter({
      name: 'sluice_fence_rejections_total',
      help: 'Work that was given up because somebody else owns it by now, or may',
      labelNames,
      registers,
    });
    new Gauge({
      name: 'sluice_partition_lag_records',
      help: 'Records of a partition of this process that it is not done with',
      labelNames: ['topic', 'partition'],
      registers,
      async collect() {
        const found = await Promise.all(
          [...lags].map(async ({ labels, records }) => ({ labels, records: await records() })),
        );
        this.reset();
        for (const { labels, records } of found) if (records !== undefined) this.set({ ...labels }, records);
      },
    });
  }

  /** `scope`: the number of a partition, or the name of a cluster. */
  hold(role: OwningRole, scope: string, epoch: number): HeldLease {
    const held: Held = { labels: { role, scope }, epoch };
    this.#held.add(held);
    // Shown as 0 from the start, so that the first one is seen as a rise.
    this.#fenced.inc(held.labels, 0);
    return {
      fenced: () => this.#fenced.inc(held.labels),
      release: () => void this.#held.delete(held),
    };
  }

  /** Shows the lag of a partition, where `records` knows it, for as long as the returned function is not called. */
  showLag(topic: PartitionTopic, partition: number, records: () => Promise<number | undefined>): () => void {
    const lag: Lag = { labels: { topic, partition }, records };
    this.#lags.add(lag);
    return () => void this.#lags.delete(lag);
  }
}
