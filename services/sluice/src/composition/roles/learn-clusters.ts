import type { Bus, Delivery } from '@sluice/bus';

/** As `PublishedNames`. */
interface Names {
  get(identity: string): string | undefined;
  learn(identities: ReadonlySet<string>): Promise<void>;
}

/** A bus whose readers return records of a new cluster once its name is known, so that all metrics and logs show it. */
export function learnClusters(bus: Bus, names: Names): Bus {
  const learn = async (deliveries: readonly Delivery[]): Promise<readonly Delivery[]> => {
    const unknown = new Set(deliveries.map(clusterOf).filter((identity) => names.get(identity) === undefined));
    unknown.delete('');
    if (unknown.size > 0) await names.learn(unknown);
    return deliveries;
  };
  return {
    partitions: bus.partitions,
    get limits() {
      return bus.limits;
    },
    get connected() {
      return bus.connected ?? true;
    },
    append: (topic, partition, records) => bus.append(topic, partition, records),
    read(topic, partition, after) {
      const reader = bus.read(topic, partition, after);
      return {
        next: (max) => reader.next(max).then(learn),
        get streamId() {
          return reader.streamId;
        },
        release: (offset) => reader.release(offset),
        close: () => reader.close(),
      };
    },
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}

/** Empty for a record that belongs to no cluster. */
const clusterOf = ({ key }: Delivery): string => key.slice(0, Math.max(0, key.indexOf('/')));
