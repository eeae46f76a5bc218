import { type Bus, MemoryBus } from '@sluice/bus';
import { type ClusterReader, chainReader } from '@sluice/kubernetes';
import { encodeMessage, parseServiceKey, type ResyncRequest, type ServiceKey } from '@sluice/messages';
import type { Clock, Logger, Random } from '@sluice/platform';
import { nameClusters } from '@sluice/platform/process';
import { reconcilerMetrics, runReconciler } from '@sluice/reconciler';
import { planOf, type Settings } from '@sluice/service-state';
import {
  acknowledgePlans,
  observeUpstreamWrites,
  type ReportedDifference,
  ShadowComparison,
  type ShadowedCluster,
  type ShadowReport,
  shadowPolicy,
} from '@sluice/shadow';
import { MemoryStore, type Outage } from '@sluice/store';
import type { Metrics } from '@sluice/telemetry';
import { ClusterWatcher } from '@sluice/watcher';
import { clusterCache } from './telemetry/cluster-cache.ts';

interface ShadowOptions {
  readonly clusters: readonly (ShadowedCluster & { readonly reader: ClusterReader })[];
  readonly settings: Settings;
  /** How long the upstream controllers may take before a disagreement counts as a difference, in milliseconds. */
  readonly gracePeriodMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: half of the heap. */
  readonly maxCacheBytes?: number | undefined;
  /** Sees what watchers publish. Decisions are left out, because nothing is written. */
  readonly tap?: ((bus: Bus) => Bus) | undefined;
  /** Called when an API server stops answering, and with null when it answers again. */
  readonly onAvailability?: ((cluster: ShadowedCluster, outage: Outage | null) => void) | undefined;
  readonly onDifference?: (difference: ReportedDifference) => void;
  readonly onResolved?: (difference: ReportedDifference) => void;
}

export interface Shadow {
  /** Resolves once the caches of every cluster are synced. */
  readonly synced: Promise<unknown>;
  /** Rejects on a fatal error; never resolves before `stop`. */
  readonly done: Promise<unknown>;
  report(): ShadowReport;
  stop(): Promise<void>;
}

const partitions = 16;

/** Runs watcher and reconciler as in a normal run, but compares plans with the cluster instead of writing them. */
export function startShadow(options: ShadowOptions): Shadow {
  const { clock, random, settings, metrics } = options;
  const logger = nameClusters(options.logger, new Map(options.clusters.map(({ identity, name }) => [identity, name])));
  const bus = new MemoryBus({ partitions });
  const published = options.tap?.(bus) ?? bus;
  const stop = new AbortController();
  const epoch = Math.floor(clock.now());
  const comparison: ShadowComparison = new ShadowComparison({
    ...options,
    logger,
    maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
    requestResync: resyncRequester(bus),
  });
  metrics.report('sluice_shadow_services', (report) => {
    for (const [result, services] of Object.entries(comparison.report().services)) report({ result }, services);
  });
  const watchers = options.clusters.map((cluster) => {
    const { identity, name, reader } = cluster;
    return new ClusterWatcher({
      cluster: identity,
      fencingToken: epoch,
      bus: published,
      clock,
      random,
      listBudget: clusterCache(metrics, identity, options.maxCacheBytes).listBudget,
      reader: chainReader(
        reader,
        observeUpstreamWrites(identity, (key, controller) => comparison.wrote(key, controller)),
      ),
      logger: logger.with({ cluster: name }),
      onAvailability: (outage) => options.onAvailability?.(cluster, outage),
      onMalformed: (resource) => {
        comparison.malformed();
        metrics.inc('sluice_malformed_objects_total', { identity, resource });
      },
    });
  });
  const reconciler = runReconciler(
    {
      bus,
      clock,
      random,
      fencingToken: epoch,
      logger,
      store: new MemoryStore(),
      partitions: Array.from({ length: partitions }, (_, partition) => partition),
      settings: { ...settings, policy: shadowPolicy(settings.policy, comparison.tracker, () => clock.now()) },
      metrics: reconcilerMetrics(metrics, clock),
      onDecided(key, controller, decided) {
        if (decided) comparison.decided(parseServiceKey(key), controller, planOf(decided));
      },
    },
    stop.signal,
  );
  const done = Promise.all([
    ...watchers.map((watcher) => watcher.run(stop.signal)),
    reconciler,
    acknowledgePlans(bus, clock, stop.signal),
    comparison.run(stop.signal),
  ]);
  return {
    synced: Promise.all(watchers.map(({ synced }) => synced)),
    done,
    report: () => comparison.report(),
    async stop() {
      stop.abort();
      await bus.close();
      await Promise.allSettled([done]);
    },
  };
}

/** Requests a resync of one Service: decided again on a fresh snapshot, a difference may go away. */
function resyncRequester(bus: MemoryBus): (key: ServiceKey) => Promise<void> {
  let requests = 0;
  return async (key) => {
    const request: ResyncRequest = { kind: 'resync', scope: { key }, reason: 'shadow mode found a difference' };
    const record = { key: '', id: `shadow/${++requests}`, headers: {}, payload: encodeMessage(request) };
    await bus.append('requests', 0, [record]);
  };
}
