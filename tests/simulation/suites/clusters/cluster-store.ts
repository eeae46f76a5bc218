import { MemoryBus } from '@sluice/bus';
import type { VirtualClock } from '@sluice/platform';
import { type Lua, MemoryRedis, memoryPorts } from '@sluice/store/redis/testing';

const fleet = 'sluice';

/** What of a removed cluster stays in the store, and why. */
const mayRemain: readonly RegExp[] = [
  // Fencing tokens keep former watchers out, also after a clock step. Redis removes that of a free lease after a day.
  /^\{sluice:leases\/watcher\}:(?:holders \S+ \d+ $|starts )/,
  // So does that of the watcher's scope. A checkpoint names the last record until the next one.
  /^\{sluice:[^}]*\}:meta /,
];
const pinsKey = `{${fleet}:cluster-pins}`;

/** Bus and store of a fleet: the production adapters and scripts on a model of Redis. */
export class ClusterStore {
  readonly bus: MemoryBus;
  readonly #server: MemoryRedis;
  readonly #clock: VirtualClock;

  constructor(lua: Lua, clock: VirtualClock, partitions: number) {
    this.#clock = clock;
    this.#server = new MemoryRedis({ lua, clock });
    this.bus = new MemoryBus({ partitions });
  }

  /** The ports of one process. */
  connect() {
    return memoryPorts({ server: this.#server, clock: this.#clock, fleet });
  }

  /** What the store has of a removed cluster, and of its name if no cluster has it. Pins stay until an operator forgets the cluster. */
  leftovers(identity: string, name: string | undefined): readonly string[] {
    return this.#entries().filter(
      (entry) =>
        (entry.includes(identity) || (name !== undefined && entry.includes(`unidentified/${name}`))) &&
        !entry.startsWith(pinsKey) &&
        !mayRemain.some((pattern) => pattern.test(entry)),
    );
  }

  isListed(identity: string): boolean {
    return this.#entries().some((entry) => entry.startsWith(`{${fleet}:clusters} ${identity} `));
  }

  /** Who holds the lease to watch the cluster; undefined: nobody does. */
  holderOf(identity: string): string | undefined {
    const lease = this.#server.hash(`{${fleet}:leases/watcher}:holders`).get(identity);
    return lease?.split(' ')[1] || undefined;
  }

  isPinned(name: string): boolean {
    return this.#entries().some((entry) => entry.startsWith(pinsKey) && entry.includes(`"${name}"`));
  }

  /** All values, each with its key and its field. */
  #entries(): readonly string[] {
    return [...this.#server.save()].flatMap(([key, value]) => {
      if (typeof value === 'string') return [`${key} ${value}`];
      if (!(value instanceof Map)) return value.map((element) => `${key} ${element}`);
      return [...value].map(([field, { value }]) => `${key} ${field} ${value}`);
    });
  }
}
