import { type AppendedOffsets, type Bus, type BusRecord, ForwardingBus, type Topic } from '@sluice/bus';
import { decodeRecord, MessageRecord } from '@sluice/messages';

/** The Services of which the logs have a snapshot. */
export class FirstSnapshots {
  readonly #known = new Set<string>();
  /** A watcher sends the same record until the bus accepts it. */
  readonly #stripped = new WeakMap<BusRecord, BusRecord>();

  /** The bus of a watcher whose first Changes of these Services are not marked as snapshots. */
  without(bus: Bus): Bus {
    return new WithoutFirstSnapshots(bus, (records) =>
      records.map((record) => {
        const stripped = this.#stripped.get(record) ?? this.#strip(record);
        this.#stripped.set(record, stripped);
        return stripped;
      }),
    );
  }

  #strip(record: BusRecord): BusRecord {
    const message = decodeRecord(record);
    // What is known of a restored cluster is discarded.
    if (message.kind === 'clusterRemoved')
      for (const key of this.#known) if (key.startsWith(`${message.cluster}/`)) this.#known.delete(key);
    if (message.kind !== 'change' || message.snapshot === undefined) return record;
    const { snapshot, ...change } = message;
    const isKnown = this.#known.has(record.key);
    if (snapshot.last) this.#known.add(record.key);
    if (!snapshot.initial || !isKnown) return record;
    return new MessageRecord({ key: record.key, id: record.id, headers: record.headers }, change);
  }
}

class WithoutFirstSnapshots extends ForwardingBus {
  readonly #strip: (records: readonly BusRecord[]) => readonly BusRecord[];

  constructor(inner: Bus, strip: (records: readonly BusRecord[]) => readonly BusRecord[]) {
    super(inner);
    this.#strip = strip;
  }

  override append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    return super.append(topic, partition, topic === 'changes' ? this.#strip(records) : records);
  }

  override deliver(...[topic, partition, records, ...rest]: Parameters<NonNullable<Bus['deliver']>>) {
    return super.deliver(topic, partition, topic === 'changes' ? this.#strip(records) : records, ...rest);
  }
}
