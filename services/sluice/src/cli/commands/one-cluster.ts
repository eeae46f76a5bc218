import { CompetingManagers, type ConnectedCluster, connect, guardIdentity } from '@sluice/fleet/clusters';
import type { ClusterConfiguration } from '@sluice/fleet/configuration';
import { aborted, type Logger } from '@sluice/platform';
import { exitStatus, systemClock, systemRandom } from '@sluice/platform/process';
import type { Outage } from '@sluice/store';
import { syncHealth } from '@sluice/telemetry';
import { clusterView } from '../../composition/telemetry/start-console.ts';
import type { Demo } from './demo-commands.ts';
import { demoLogger } from './demo-logger.ts';
import { electionOf, namespaceScope, type Run, selectsCluster } from './run-options.ts';
import { processFleet, processId, type ServedClusters, type Serving } from './served-clusters.ts';

interface RunnableCluster extends ConnectedCluster {
  /** Lines to print at startup. */
  readonly about: readonly string[];
  readonly demo?: Demo;
  /** Aborts when another cluster answers at the address. Default: never. */
  readonly replaced?: AbortSignal;
  /** Stops the demo workload. */
  pause(): void;
}

/** Connects to the cluster that the flags select, or starts the demo cluster. Rejects if the cluster cannot be used. */
export async function openOneCluster(run: Run, signal: AbortSignal, logger: Logger): Promise<ServedClusters> {
  let services: Serving | undefined;
  const cluster = await open(run, signal, logger, () => services?.resync?.());
  const { leadership, replaced } = cluster;
  let ready = false;
  let outage: Outage | null = null;
  const competing = new CompetingManagers(systemClock);
  return {
    introduction: cluster.about,
    demo: cluster.demo,
    initial: [cluster],
    names: new Map([[cluster.identity, cluster.name]]),
    accesses: new Map(cluster.access && [[cluster.identity, cluster.access]]),
    leadership,
    phases: () => {
      const phase = phaseOf(outage, cluster.writesPausedBecause?.());
      return [{ name: cluster.name, phase: phase === 'serving' && leadership?.isLeader === false ? 'standby' : phase }];
    },
    hooks: {
      onAvailability: (_, current) => {
        outage = current;
      },
      onCompetingController: ({ identity }, manager) => competing.report(identity, manager),
    },
    health: syncHealth(cluster.name, () => ready),
    views: () => {
      const paused = cluster.writesPausedBecause?.();
      // A standby publishes nothing, so it has no history.
      const state = leadership?.isLeader === false ? 'standby, without a history' : 'watched';
      return [clusterView(cluster, state, { outage, competing: competing.of(cluster.identity), paused })];
    },
    synced() {
      ready = true;
    },
    run(running, signal) {
      services = running;
      return aborted(replaced === undefined ? signal : AbortSignal.any([signal, replaced]));
    },
    pause: () => cluster.pause(),
    close: () => cluster.close(),
  };
}

export function introductionOf({
  name,
  version,
  server,
  leadership,
}: Pick<RunnableCluster, 'name' | 'version' | 'server' | 'leadership'>): string {
  const where = `${name} (Kubernetes ${version}) at ${server}`;
  return leadership?.isLeader === false
    ? `Sluice stands by for ${where}, and manages its Endpoints and EndpointSlices while it leads`
    : `Sluice manages Endpoints and EndpointSlices of ${where}`;
}

/** As of a cluster that a fleet serves. */
function phaseOf(outage: Outage | null, paused: string | undefined): string {
  if (outage !== null) return 'unavailable';
  return paused === undefined ? 'serving' : 'paused';
}

async function open(run: Run, signal: AbortSignal, logger: Logger, onPermitted: () => void): Promise<RunnableCluster> {
  const { configuration, seed, rate } = run;
  const ports = { clock: systemClock, random: systemRandom, logger };
  if (!selectsCluster(configuration)) {
    const { startSimulation } = await import('@sluice/demo');
    const simulated = await startSimulation({
      ...{ ...ports, logger: demoLogger(logger) },
      ...(seed !== undefined && { seed }),
      ...(rate !== undefined && { rate }),
    });
    const what = 'Sluice manages the endpoints of a simulated cluster; nothing real is touched';
    return { ...simulated, about: [what, ...simulated.about] };
  }
  const [only = {} as ClusterConfiguration] = configuration.clusters;
  const { namespaces: _, excludeNamespaces: __, ...access } = only;
  const election = electionOf(run);
  const { takeOver, useServiceAccountCredentials } = configuration.writer;
  const cluster = await connect(
    {
      ...ports,
      ...access,
      signal,
      takeOver,
      useServiceAccountCredentials,
      controllers: configuration.controllers.enabled,
      fleet: processFleet(election),
      leaderElection: election && { ...election, identity: processId },
      namespaces: namespaceScope(only),
      onPermitted,
    },
    process.env,
  );
  const replaced = new AbortController();
  const guarded = guardIdentity(cluster, {
    clock: systemClock,
    // Its state is that of the former cluster. As a former leader, the process ends, and starts again.
    onReplaced(found) {
      const { identity } = cluster;
      logger.error('API server address now belongs to another cluster; stopping', { identity, found });
      process.exitCode = exitStatus.failure;
      replaced.abort();
    },
  });
  return { ...guarded, about: [introductionOf(cluster)], replaced: replaced.signal, pause() {} };
}
