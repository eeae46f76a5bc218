import { type AppendedOffsets, type Bus, type BusRecord, ForwardingBus, type Topic } from '@sluice/bus';
import { decodeRecord, type Fact, MessageRecord } from '@sluice/messages';

/** The Services of which the logs have a snapshot, and an object that is not deleted: reconcilers forget what is gone. */
export class FirstSnapshots {
  readonly #known = new Set<string>();
  /** By Service. */
  readonly #objects = new Map<string, Set<string>>();
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
    if (message.kind !== 'change') return record;
    const { snapshot, ...change } = message;
    const isStripped = snapshot?.initial === true && this.#known.has(record.key);
    if (snapshot?.last) this.#known.add(record.key);
    if (snapshot?.first && !isStripped) this.#objects.delete(record.key);
    if (!this.#hasObjects(record.key, change.facts)) this.#known.delete(record.key);
    if (!isStripped) return record;
    return new MessageRecord({ key: record.key, id: record.id, headers: record.headers }, change);
  }

  #hasObjects(key: string, facts: readonly Fact[]): boolean {
    const objects = this.#objects.get(key) ?? new Set();
    this.#objects.set(key, objects);
    for (const fact of facts) {
      const name = `${fact.kind}/${'name' in fact ? fact.name : ''}`;
      if (isPresent(fact)) objects.add(name);
      else objects.delete(name);
    }
    return objects.size > 0;
  }
}

function isPresent(fact: Fact): boolean {
  switch (fact.kind) {
    case 'service':
      return fact.service !== null;
    case 'pod':
      return fact.pod !== null;
    case 'endpoints':
      return fact.endpoints !== null;
    case 'slice':
      return fact.slice !== null;
    default:
      return false;
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
