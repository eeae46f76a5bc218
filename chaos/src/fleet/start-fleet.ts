import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Network } from '../network/network.ts';
import { type Replicas, type Role, roles, type Topology } from '../schedule.ts';
import { type BusServers, startBus } from './bus-servers.ts';
import { ownCheckout, type RoleProcess, roleProcess, type ServedCluster } from './role-process.ts';
import type { ServerNode } from './server-node.ts';
import { type StoreServers, startStore } from './store-servers.ts';
import type { Target } from './target.ts';

export interface FleetOptions extends Topology {
  readonly directory: string;
  readonly clusters: readonly ServedCluster[];
  readonly partitions: number;
  readonly replicas: Replicas;
  /** Checkout of another version, from which every second process starts. */
  readonly upgradeFrom?: string | undefined;
  /** With `upgradeFrom`, every process starts from it. */
  readonly allEarlier?: boolean;
}

/** The processes of a fleet, its servers, and the network between them. */
export interface Fleet {
  readonly name: string;
  readonly partitions: number;
  readonly bus: BusServers;
  readonly store: StoreServers;
  readonly network: Network;
  readonly roles: readonly RoleProcess[];
  readonly targets: ReadonlyMap<string, Target>;
  stop(): Promise<void>;
}

const name = 'chaos';

/**
 * Starts bus and store, but no role.
 *
 * @throws LocalError
 */
export async function startServers(options: FleetOptions): Promise<Fleet> {
  const { directory, partitions, clusters } = options;
  mkdirSync(join(directory, 'logs'), { recursive: true });
  const processes = roles.flatMap((role) => names(role, options.replicas));
  const network = new Network();
  const endings: (() => Promise<void>)[] = [() => network.close()];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const shared = { ...options, network, clients: processes.map((each) => each.name) };
    const store = await startStore(shared);
    endings.push(() => {
      keepLogs(store.nodes, directory);
      return store.stop();
    });
    const bus = await startBus(shared);
    endings.push(() => {
      keepLogs(bus.nodes, directory);
      return bus.stop();
    });
    const own = await Promise.all(
      processes.map((each, index) => {
        const [busAccess, storeAccess] = [bus.access.get(each.name), store.access.get(each.name)];
        if (busAccess === undefined || storeAccess === undefined) throw new RangeError(`unknown client ${each.name}`);
        const servers = { bus: busAccess, store: storeAccess };
        const checkouts = checkoutsFor(index, options);
        return roleProcess({ ...each, ...servers, fleet: name, partitions, directory, network, clusters, checkouts });
      }),
    );
    endings.push(async () => {
      await Promise.all(own.map(({ target }) => target.process.kill()));
    });
    const targets = [...own, ...bus.nodes, ...store.nodes].map(({ target }) => target);
    return {
      ...{ name, partitions, bus, store, network, roles: own, stop },
      targets: new Map(targets.map((target) => [target.name, target])),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** By default some processes of each role start as each version. */
function checkoutsFor(index: number, { upgradeFrom, allEarlier = false }: FleetOptions): readonly string[] {
  if (upgradeFrom === undefined) return [ownCheckout];
  return allEarlier || index % 2 === 0 ? [upgradeFrom, ownCheckout] : [ownCheckout, upgradeFrom];
}

function names(role: Role, replicas: Replicas): readonly { name: string; role: Role }[] {
  return Array.from({ length: replicas[role] }, (_, n) => ({ name: `${role}-${n + 1}`, role }));
}

/** The disks of servers are removed with them, and so would be their logs. */
function keepLogs(nodes: readonly ServerNode[], directory: string): void {
  for (const { log, disk } of nodes) {
    if (disk === undefined) continue;
    copyFileSync(log, join(directory, 'logs', `${basename(dirname(log))}-${basename(log)}`));
  }
}
