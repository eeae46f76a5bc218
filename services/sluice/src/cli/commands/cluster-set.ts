import {
  ClusterOutages,
  ClusterSet,
  type ClusterState,
  CompetingManagers,
  checkOnlySource,
  clusterSources,
  connectTo,
  guardWrites,
  PendingClusters,
  withIdentity,
} from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import type { ClusterAccess } from '@sluice/kubernetes';
import { type Logger, ThreadShares, YieldQueue } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { condition } from '@sluice/telemetry';
import { clusterChecks } from '../../composition/cluster-checks.ts';
import { clusterView } from '../../composition/telemetry/start-console.ts';
import { processFleet, type ServedClusters, type Serving } from './served-clusters.ts';

/**
 * Serves every cluster that the configuration selects; clusters are added and removed as their sources change. `readOnly`: sends
 * only GET requests, so that a cluster needs no guard.
 */
export async function openClusterSet(
  configuration: Configuration,
  logger: Logger,
  { readOnly = false } = {},
): Promise<ServedClusters> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  const { takeOver, useServiceAccountCredentials } = configuration.writer;
  const { enabled: controllers } = configuration.controllers;
  const work = readOnly ? ({ readOnly, work: ['watch'] } as const) : { takeOver, useServiceAccountCredentials };
  const threadShares = new ThreadShares({ clock: systemClock, logger, yieldQueue: new YieldQueue(setImmediate) });
  const names = new Map<string, string>();
  const accesses = new Map<string, ClusterAccess>();
  const synced = new Set<string>();
  const outages = new ClusterOutages();
  const competing = new CompetingManagers(systemClock);
  const pending = new PendingClusters(systemClock);
  const sources = clusterSources(configuration, process.env, ports);
  await checkOnlySource(sources);
  let services: Serving;
  const clusters: ClusterSet = new ClusterSet({
    ...ports,
    sources,
    open: (access, signal, name) => connectTo(access, { ...ports, ...work, name, signal, threadShares, controllers }),
    ...(!readOnly && {
      guard: (cluster, signal) =>
        guardWrites(
          cluster,
          { ...ports, takeOver, fleet: processFleet(), onPermitted: ({ identity }) => services.resync?.(identity) },
          signal,
        ),
    }),
    serve: async (cluster, signal) => {
      names.set(cluster.identity, cluster.name);
      if (cluster.access !== undefined) accesses.set(cluster.identity, cluster.access);
      pending.connected(cluster.identity);
      try {
        await services.serve(cluster, signal);
      } finally {
        outages.set(cluster.identity, null);
        accesses.delete(cluster.identity);
        synced.delete(cluster.identity);
      }
    },
    onRemoved: ({ identity }) => {
      pending.removed(identity);
      return services.removeCluster(identity);
    },
  });
  const cachesSynced = ({ name, phase, identity }: ClusterState) =>
    condition(`caches/${name}`, () => phase !== 'serving' || synced.has(identity), 'caches not synced');
  return {
    introduction: sources.map(({ about }) =>
      readOnly
        ? `Sluice observes the clusters in ${about}, and writes nothing`
        : `Sluice manages Endpoints and EndpointSlices of the clusters in ${about}`,
    ),
    initial: [],
    names,
    accesses,
    threadUses: () => threadShares.uses,
    phases: () => clusters.states.map((state) => outages.phaseOf(state)),
    hooks: {
      mayConnect: (identity) => pending.mayConnect(identity, clusters.allConnected),
      onSynced: ({ identity }) => void synced.add(identity),
      onAvailability: ({ identity }, outage) => outages.set(identity, outage),
      onCompetingController: ({ identity }, manager) => competing.report(identity, manager),
    },
    health: { livez: () => [], readyz: () => [...clusterChecks(clusters), ...clusters.states.map(cachesSynced)] },
    views: () =>
      clusters.states.map((state) => {
        const { identity, phase, reason } = state;
        const paused = phase === 'paused' ? reason : undefined;
        const conditions = { outage: outages.of(state), competing: competing.of(identity), paused };
        return clusterView(withIdentity(state), describeState(state), conditions);
      }),
    synced() {},
    run(running, signal) {
      services = running;
      return clusters.run(signal);
    },
    pause() {},
    close: async () => {},
  };
}

/** The state as the console shows it. */
const describeState = ({ phase, reason }: ClusterState): string =>
  phase === 'serving' || phase === 'paused' ? 'watched' : reason === '' ? phase : `${phase}: ${reason}`;
