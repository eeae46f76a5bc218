import { NetworkedBus } from '@sluice/bus';
import type { ClusterCandidate, ClusterSource, EarlyConnections } from '@sluice/fleet/clusters';
import { resolve } from '@sluice/fleet/configuration/testing';
import { type Logger, type Random, randomInteger, seededRandom, sleep, type VirtualClock } from '@sluice/platform';
import { forgetCluster, type Role, type RunningRole, startRole } from '@sluice/sluice';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';
import type { ClusterStore } from './cluster-store.ts';
import type { RemovalSteps, Remover } from './removal-steps.ts';
import type { ServedCluster } from './served-cluster.ts';

export interface FleetProcessOptions {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly store: ClusterStore;
  readonly steps: RemovalSteps;
  /** The clusters that the configuration lists. */
  readonly configured: () => readonly ServedCluster[];
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly logger: Logger;
}

/** As in the fleets of the simulation. */
const leases = { ttlMs: 4_000, heartbeatMs: 1_200 };
const { configuration } = resolve({ flags: { '--kubeconfig': 'unused', '--metrics-bind-address': '0' } });
/** As long as a process has before it is killed, in milliseconds. */
const gracePeriodMs = 10_000;

/** The source of the clusters that every process reads. */
function sourceOf({ configured, process }: FleetProcessOptions): ClusterSource {
  const read = async () => {
    await sleep(process.clock, 1);
    const candidates = configured().map((cluster): ClusterCandidate => {
      const { name, identity } = cluster;
      return { name, from: `a directory/${name}`, fingerprint: identity, load: async () => ({ cluster }) as never };
    });
    return { candidates, problems: [] };
  };
  return { about: 'a directory', read };
}

/** Bus and store as the process reaches them. */
function portsOf(remover: Remover, { store, steps, process, logger }: FleetProcessOptions) {
  const { deadLetters, ...stored } = store.connect();
  return {
    bus: new NetworkedBus(process.bus(steps.bus(remover, store.bus)), { clock: process.clock, logger }),
    store: process.store(steps.store(remover, stored.store)),
    leases: process.leases(steps.leases(remover, stored.leases)),
    directory: process.directory(steps.directory(remover, stored.directory)),
    clusterPins: process.document(steps.pins(remover, stored.clusterPins)),
    deadLetters,
  };
}

/** A process of the fleet, with all that `sluice` composes. */
export class FleetProcess implements Remover {
  readonly name: string;
  readonly role: Role;
  readonly process: SimulatedProcess;
  readonly #options: FleetProcessOptions;
  readonly #running: RunningRole;

  constructor(
    options: FleetProcessOptions,
    role: Role,
    onRequest: (sender: FleetProcess, cluster: ServedCluster) => void,
  ) {
    this.#options = options;
    this.name = options.name;
    this.role = role;
    this.process = options.process;
    const { process, clock, random, logger } = options;
    const open = async ({ cluster }: { readonly cluster: ServedCluster }) =>
      cluster.connect({ process, clock, random, onRequest: () => onRequest(this, cluster) });
    this.#running = startRole({
      ...{ role, member: options.name, environment: {}, clock: process.clock, logger },
      infrastructure: portsOf(this, options),
      configuration: { ...configuration, leases },
      connections: { sources: [sourceOf(options)], open } as unknown as EarlyConnections,
      random: seededRandom(randomInteger(random, 0, 1e9)),
    });
  }

  /** Rejects on a fatal error. */
  get done(): Promise<unknown> {
    return this.#running.done;
  }

  /** Stops it in order; what does not stop is killed. */
  async stop(): Promise<void> {
    const killed = Promise.withResolvers<void>();
    const cancel = this.#options.clock.schedule(gracePeriodMs, () => {
      this.process.kill();
      killed.resolve();
    });
    await Promise.race([this.#running.stop(gracePeriodMs), killed.promise]).finally(cancel);
  }
}

/** Runs `sluice clusters forget NAME`. */
export async function forget(options: FleetProcessOptions, cluster: string): Promise<void> {
  const { name, process } = options;
  // A command only reads and changes what is stored.
  const fleet = portsOf({ name, process }, options);
  await forgetCluster(cluster, {
    ...{ sources: [sourceOf(options)], fleet, member: `forget/${name}`, dryRun: false, clock: process.clock },
  });
}
