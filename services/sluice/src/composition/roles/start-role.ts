import { randomUUID } from 'node:crypto';
import { ByReferenceBus, type Delivery, LocalDeliveryBus, ObservedBus } from '@sluice/bus';
import {
  type Cluster,
  type EarlyConnections,
  guardWrites,
  PublishedNames,
  publishPauses,
  publishUnidentified,
  StoredIdentities,
} from '@sluice/fleet/clusters';
import { type Configuration, toCompaction, toSettings } from '@sluice/fleet/configuration';
import { partitionLogger } from '@sluice/fleet/ownership';
import {
  type Infrastructure,
  type OwningRole,
  Reachability,
  RoleHealth,
  type RoleOptions,
  storeProblemCounts,
} from '@sluice/fleet/roles';
import {
  aborted,
  type Clock,
  type Logger,
  orAborted,
  type Random,
  sleep,
  type ThreadShares,
  YieldQueue,
} from '@sluice/platform';
import { nameClusters } from '@sluice/platform/process';
import { type Health, Metrics } from '@sluice/telemetry';
import { FalseAlarms, listSemaphore } from '@sluice/watcher';
import { clusterChecks } from '../cluster-checks.ts';
import { requestClusterResync } from '../operator-requests.ts';
import { removeStoredCluster } from '../stored-clusters.ts';
import type { Tracing } from '../telemetry/start-tracing.ts';
import { countRetries } from '../writable-cluster.ts';
import { FleetClusters } from './fleet-clusters.ts';
import { runReconcilerRole } from './reconciler-role.ts';
import { removeUnconfigured } from './remove-unconfigured.ts';
import { clusterConnections, partsOf, type Role, workOf } from './role.ts';
import { watcherShare } from './watcher-role.ts';
import { runWriterRole } from './writer-role.ts';

interface StartRoleOptions {
  readonly role: Role;
  readonly infrastructure: Infrastructure;
  readonly member: string;
  /** Reconcilers ignore the clusters. */
  readonly configuration: Pick<
    Configuration,
    'fleet' | 'leases' | 'clusters' | 'clusterSecrets' | 'controllers' | 'watcher' | 'writer' | 'metricsBindAddress'
  >;
  readonly environment: NodeJS.ProcessEnv;
  /** Connections to the clusters that may be open already. Default: new ones. */
  readonly connections?: EarlyConnections | undefined;
  /** What `connections` divide the thread by. Default: each cluster may use all of it. */
  readonly threadShares?: ThreadShares | undefined;
  /** Default: no tracing. */
  readonly tracing?: Tracing | undefined;
  /** Time for which the event loop was busy since the start. Default: the demand for replicas is not exposed. */
  readonly busyMs?: () => number;
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
  const does = (part: OwningRole) => partsOf(role).includes(part);
  const work = workOf(role);
  const working = new AbortController();
  const requests = new AbortController();
  const configured = new Map<string, string>();
  const published = directory && new PublishedNames({ directory, clock, logger: options.logger });
  const names = {
    get: (identity: string) => configured.get(identity) ?? published?.get(identity),
    learn: async (identities: ReadonlySet<string>) => published?.learn(identities),
  };
  tracing?.exporter.nameClusters(names);
  const logger = nameClusters(options.logger, names);
  /** Records of a new cluster wait for its name, so that all metrics and logs show it. */
  const learn = async (deliveries: readonly Delivery[]) => {
    const identities = new Set(deliveries.map(({ key }) => key.slice(0, Math.max(0, key.indexOf('/')))));
    const unknown = new Set([...identities].filter((name) => name !== '' && names.get(name) === undefined));
    if (unknown.size > 0) await names.learn(unknown);
  };
  const metrics: Metrics | undefined =
    configuration.metricsBindAddress === null
      ? undefined
      : new Metrics({
          clusters: names,
          fleet: true,
          spans: () => tracing?.exporter.counts,
          phases: () => clusters.phases(health.isMember),
          storeProblems: storeProblemCounts(infrastructure),
          backends: () => health.backends,
          threadUses: options.threadShares && (() => options.threadShares?.uses ?? new Map()),
          ...(options.busyMs && { demand: { clock, busyMs: options.busyMs } }),
        });
  const metricsOption = metrics && { metrics };
  const health: RoleHealth = new RoleHealth({
    ...infrastructure,
    clock,
    member,
    leaseTimes: configuration.leases,
    clusters: () => (work.length === 0 ? [] : clusterChecks(clusters)),
  });
  const bus =
    role === 'worker'
      ? new LocalDeliveryBus(new ByReferenceBus(infrastructure.bus), { clock, random })
      : infrastructure.bus;
  const shared: RoleOptions = {
    ...infrastructure,
    bus: new ObservedBus(bus, learn),
    member,
    leaseTimes: configuration.leases,
    clock,
    random,
    logger: partitionLogger(logger, clock),
    yieldQueue: new YieldQueue(setImmediate),
    ...metricsOption,
    health,
    reachability: new Reachability({ ...{ bus, member, clock }, unavailable: () => clusters.unavailable }),
    onDeadLetter: (topic) => metrics?.inc('sluice_dead_letters_total', { topic }),
  };
  const optionsOf = (part: OwningRole): RoleOptions => ({ ...shared, tracer: tracing?.tracers[part] });
  // A store that was wiped gets the id again that this process has.
  let knownId = randomUUID() as string;
  const fleetId = async () => {
    knownId = await infrastructure.store.setIfAbsent('fleet-id', knownId);
    return knownId;
  };
  const share = watcherShare(optionsOf('watcher'));
  const connections = options.connections ?? clusterConnections({ ...options, logger });
  const guard = {
    clock,
    logger,
    work,
    takeOver: configuration.writer.takeOver,
    fleet: { name: configuration.fleet, id: fleetId },
    onPermitted: ({ identity }: Cluster) => {
      requestClusterResync(infrastructure.bus, identity, 'the API server permits writes again').catch(
        (error: unknown) => logger.warn('cannot request a resync', { cluster: identity, error }),
      );
    },
  };
  const clusters: FleetClusters = new FleetClusters({
    work,
    clock,
    random,
    logger,
    metrics,
    stopping: working.signal,
    identities: infrastructure.clusterPins && new StoredIdentities(infrastructure.clusterPins),
    sources: connections.sources,
    open: connections.open,
    guard: (cluster, signal) => guardWrites(cluster, guard, signal),
    onServed: ({ identity, name }) => void configured.set(identity, name),
    watcher: {
      ...optionsOf('watcher'),
      share,
      listing: listSemaphore(clock),
      falseAlarms: new FalseAlarms(clock),
      compaction: toCompaction(configuration.controllers),
      maxCacheBytes: configuration.watcher.maxCacheBytes,
    },
    limits: configuration.writer,
    partitions: infrastructure.bus.partitions,
  });
  const observed = { states: () => clusters.states, clock, logger };
  // What only observers need does not delay a shutdown while the store does not answer.
  const untilStopped = (publishing: Promise<unknown>) => orAborted(publishing, working.signal);
  const write = () =>
    runWriterRole(
      {
        ...optionsOf('writer'),
        requests: requests.signal,
        onPartitionHeld: (change) => clusters.partitionHeld(change),
        cluster: (identity) => clusters.writable(identity),
        onOutcome: ({ key }, { retries }) => countRetries(metrics, key.cluster, retries),
      },
      working.signal,
    );
  const reconcile = () =>
    runReconcilerRole({ ...optionsOf('reconciler'), settings: toSettings(configuration.controllers) }, working.signal);
  const run = (): Promise<unknown> => {
    // Clusters stay connected until the last of them and the last partition is handed over.
    const connecting = new AbortController();
    // Reconcilers claim their partitions first, so that most writers need not read the log (`LocalPlans`).
    const reconciling = does('reconciler') ? reconcile() : undefined;
    const applying = does('writer') ? write() : aborted(working.signal);
    const watching = does('watcher') ? share.run(working.signal) : aborted(working.signal);
    const connected = [applying, watching];
    void Promise.allSettled(connected).then(() => connecting.abort());
    return Promise.all([
      ...connected,
      reconciling,
      ...(work.length > 0 ? [clusters.run(connecting.signal)] : []),
      ...(directory && does('watcher')
        ? [
            untilStopped(
              publishUnidentified(
                { directory, ...observed, sourceOf: (name) => clusters.sourceOf(name) },
                working.signal,
              ),
            ),
            untilStopped(
              removeUnconfigured(
                {
                  ...observed,
                  directory,
                  leases: infrastructure.leases,
                  readableSources: () => clusters.readableSources,
                  remove: (identity) =>
                    removeStoredCluster({ ...infrastructure, directory, member: `${member}/remove`, clock }, identity),
                },
                working.signal,
              ),
            ),
          ]
        : []),
      ...(directory && does('writer') ? [untilStopped(publishPauses({ directory, ...observed }, working.signal))] : []),
    ]);
  };
  const naming = published && untilStopped(published.run(working.signal));
  // The first read precedes the metrics of known clusters, so that they have the names as labels from the start.
  const named = published === undefined ? Promise.resolve() : untilStopped(published.read());
  const done = Promise.all([named.then(run), naming]);
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
