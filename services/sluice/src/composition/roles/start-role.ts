import { randomUUID } from 'node:crypto';
import { type Infrastructure, RoleHealth } from '@sluice/backends';
import { type Delivery, observedBus } from '@sluice/bus';
import {
  ClusterOutages,
  ClusterSet,
  type ConnectedCluster,
  clusterSources,
  connectTo,
  guardWrites,
  PendingClusters,
  PublishedNames,
  publishPauses,
  publishUnidentified,
  StoredIdentities,
} from '@sluice/clusters';
import type { Configuration } from '@sluice/configuration';
import { toCompaction, toSettings } from '@sluice/configuration';
import { partitionLogger } from '@sluice/ownership';
import { nameClusters } from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import { aborted, sleep, YieldQueue } from '@sluice/runtime';
import type { Health } from '@sluice/telemetry';
import { Metrics } from '@sluice/telemetry';
import { drainable, type WritableCluster } from '@sluice/writer';
import { clusterChecks } from '../cluster-checks.ts';
import type { Tracing } from '../telemetry/start-tracing.ts';
import { writable } from '../writable-cluster.ts';
import { runReconcilerRole } from './reconciler-role.ts';
import { type RoleOptions, storeProblemCounts } from './role.ts';
import { runWatcherRole } from './watcher-role.ts';
import { runWriterRole } from './writer-role.ts';

export type Role = 'watcher' | 'reconciler' | 'writer';

export interface StartRoleOptions {
  readonly role: Role;
  readonly infrastructure: Infrastructure;
  readonly member: string;
  /** Reconcilers ignore the clusters. */
  readonly configuration: Pick<
    Configuration,
    'fleet' | 'leases' | 'clusters' | 'clusterSecrets' | 'controllers' | 'watcher' | 'writer' | 'metricsBindAddress'
  >;
  readonly environment: NodeJS.ProcessEnv;
  /** Default: no tracing. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface RunningRole {
  /** Undefined if metrics are disabled. */
  readonly metrics: Metrics | undefined;
  readonly health: Health;
  /** Rejects on a fatal error; resolves after `stop`. */
  readonly done: Promise<unknown>;
  /** Hands over its leases, waits up to `graceMs` for requests in flight, and stops. */
  stop(graceMs: number): Promise<void>;
}

/** Starts one role in this process. The caller closes the infrastructure. */
export function startRole(options: StartRoleOptions): RunningRole {
  const { role, infrastructure, configuration, member, tracing, clock, random } = options;
  const { directory } = infrastructure;
  const working = new AbortController();
  const requests = new AbortController();
  const configured = new Map<string, string>();
  const published = directory && new PublishedNames({ directory, clock, logger: options.logger });
  const names = {
    get: (identity: string) => configured.get(identity) ?? published?.get(identity),
    learn: async (identities: ReadonlySet<string>) => published?.learn(identities),
  };
  const logger = nameClusters(options.logger, names);
  /** Records of a new cluster wait for its name, so that all metrics and logs show it. */
  const learn = async (deliveries: readonly Delivery[]) => {
    const identities = new Set(deliveries.map(({ key }) => key.slice(0, Math.max(0, key.indexOf('/')))));
    const unknown = new Set([...identities].filter((name) => name !== '' && names.get(name) === undefined));
    if (unknown.size > 0) await names.learn(unknown);
  };
  const outages = new ClusterOutages();
  const watched = new Set<string>();
  let held = 0;
  /** Also whether this process only stands by for others, or cannot know because the store does not answer. */
  const phases = () =>
    clusters.states.map((state) => {
      const current = outages.phaseOf(state);
      const works = role === 'watcher' ? watched.has(state.identity) : held > 0;
      if (current.phase !== 'serving' || works) return current;
      return { name: state.name, phase: health.isMember ? 'standby' : 'unavailable' };
    });
  const metrics: Metrics | undefined =
    configuration.metricsBindAddress === null
      ? undefined
      : new Metrics({
          ...{ clusters: names, fleet: true, spans: () => tracing?.exporter.counts, phases },
          storeProblems: storeProblemCounts(infrastructure),
          backends: () => health.backends,
        });
  const metricsOption = metrics && { metrics };
  const health: RoleHealth = new RoleHealth({
    ...{ ...infrastructure, clock, member, leaseTimes: configuration.leases },
    clusters: () => (role === 'reconciler' ? [] : clusterChecks(clusters)),
  });
  const roleOptions: RoleOptions = {
    ...infrastructure,
    bus: observedBus(infrastructure.bus, learn),
    member,
    leaseTimes: configuration.leases,
    tracer: tracing?.tracers[role],
    clock,
    random,
    logger: partitionLogger(logger, clock),
    yieldQueue: new YieldQueue(setImmediate),
    ...metricsOption,
    health,
    onDeadLetter: (topic) => metrics?.pipeline.deadLettered(topic),
  };
  const connected = new Map<string, WritableCluster>();
  const partitionShare = () => held / infrastructure.bus.partitions;
  const pending = new PendingClusters(clock);
  const watch = (cluster: ConnectedCluster, signal: AbortSignal) =>
    runWatcherRole(
      {
        ...{ ...roleOptions, cluster, compaction: toCompaction(configuration.controllers) },
        maxCacheBytes: configuration.watcher.maxCacheBytes,
        onAvailability: (outage) => outages.set(cluster.identity, outage),
        onWatching: (watching) => void (watching ? watched.add(cluster.identity) : watched.delete(cluster.identity)),
        onMalformed: (resource) => metrics?.pipeline.malformed(cluster.identity, resource),
      },
      signal,
    );
  const write = async (cluster: ConnectedCluster, signal: AbortSignal) => {
    const { identity } = cluster;
    const writing = drainable(
      writable(cluster, { ...metricsOption, clock, logger, partitionShare, limits: configuration.writer }),
    );
    connected.set(identity, writing.cluster);
    pending.connected(identity);
    await aborted(signal);
    // At shutdown, the partition workers stop on their own.
    if (working.signal.aborted) return;
    connected.delete(identity);
    if (signal.reason === 'removed') pending.removed(identity);
    await writing.drain();
  };
  // A store that was wiped gets the id again that this process has.
  let knownId = randomUUID() as string;
  const fleetId = async () => {
    knownId = await infrastructure.store.setIfAbsent('fleet-id', knownId);
    return knownId;
  };
  const { useServiceAccountCredentials } = configuration.writer;
  const guard = {
    ...{ clock, random, logger, work: [role === 'watcher' ? ('watch' as const) : ('write' as const)] },
    takeOver: configuration.writer.takeOver,
    fleet: { name: configuration.fleet, id: fleetId },
  };
  const clusters: ClusterSet = new ClusterSet({
    identities: infrastructure.clusterPins && new StoredIdentities(infrastructure.clusterPins),
    sources: role === 'reconciler' ? [] : clusterSources(configuration, options.environment, { clock, logger }),
    open: (access, signal, name) => connectTo(access, { ...guard, name, useServiceAccountCredentials, signal }),
    guard: (cluster, signal) => guardWrites(cluster, guard, signal),
    serve: (cluster, signal) => {
      configured.set(cluster.identity, cluster.name);
      return role === 'watcher' ? watch(cluster, signal) : write(cluster, signal);
    },
    ...{ clock, random, logger },
  });
  // What only observers need does not delay a shutdown while the store does not answer.
  const untilStopped = (publishing: Promise<unknown>) => Promise.race([publishing, aborted(working.signal)]);
  const run = (): Promise<unknown> => {
    switch (role) {
      case 'reconciler':
        return runReconcilerRole(
          {
            ...roleOptions,
            settings: toSettings(configuration.controllers),
          },
          working.signal,
        );
      case 'watcher': {
        const states = () => clusters.states;
        if (directory === undefined) return clusters.run(working.signal);
        const publishing = untilStopped(publishUnidentified({ directory, states, clock, logger }, working.signal));
        return Promise.all([clusters.run(working.signal), publishing]);
      }
      case 'writer': {
        // Clusters stay connected until the last partition is handed over.
        const connecting = new AbortController();
        const applying = runWriterRole(
          {
            ...roleOptions,
            requests: requests.signal,
            onPartitionHeld: (change) => (held += change),
            cluster: (identity) =>
              connected.get(identity) ??
              (pending.mayConnect(identity, clusters.allConnected) ? 'connecting' : undefined),
            onOutcome: (plan, outcome) => metrics?.pipeline.requestsRetried(plan.key.cluster, outcome.retries),
          },
          working.signal,
        ).finally(() => connecting.abort());
        const states = () => clusters.states;
        const publishing =
          directory && untilStopped(publishPauses({ directory, states, clock, logger }, working.signal));
        return Promise.all([clusters.run(connecting.signal), applying, publishing]);
      }
    }
  };
  const naming = published && untilStopped(published.run(working.signal));
  // The first read precedes the metrics of known clusters, so that they have the names as labels from the start.
  const done = Promise.all([(published?.read() ?? Promise.resolve()).then(run), naming]);
  return {
    metrics,
    health,
    done,
    async stop(graceMs) {
      working.abort();
      const grace = new AbortController();
      const ended = Promise.allSettled([done]).then(() => grace.abort());
      await sleep(clock, graceMs, grace.signal);
      requests.abort();
      await ended;
    },
  };
}
