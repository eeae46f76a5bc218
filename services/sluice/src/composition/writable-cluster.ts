import type { Cluster } from '@sluice/fleet/clusters';
import { concurrentSyncs, defaultsOf, type WriterLimits } from '@sluice/fleet/configuration';
import { type Middleware, meterRequests } from '@sluice/kubernetes';
import { isUpstreamManager, recentMs, switchOffAdvice } from '@sluice/kubernetes/preflight';
import { formatServiceKey } from '@sluice/messages';
import type { Clock, Logger } from '@sluice/platform';
import { fieldManager } from '@sluice/platform/process';
import type { Metrics } from '@sluice/telemetry';
import {
  AdaptiveLimit,
  type CheckResult,
  type ClosableCluster,
  type CompetingControllerDetection,
  type Direction,
  FairShare,
  FixedLimit,
  MassChangeGuard,
  RetryLimit,
  type WritableCluster,
} from '@sluice/writer';

interface WritableOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Limits per cluster. Default: those of the flags. */
  readonly limits?: Partial<WriterLimits>;
  /** Divides the requests in flight of this process among its clusters. Default: each cluster has its own limit only. */
  readonly fairShare?: FairShare;
  /** Share of the partitions that this process works on, 0 to 1. Default: 1. */
  readonly partitionShare?: () => number;
  /** Default: no metrics. */
  readonly metrics?: Metrics;
  /** Called when a conflict shows that kube-controller-manager, or a distribution's name for it, writes the same objects. */
  readonly onCompetingController?: (cluster: Cluster, manager: string) => void;
}

/** Minimum time between repeated error logs about one cluster, in milliseconds. */
const repeatLogMs = 60_000;

/** More requests in flight gain nothing on one event loop, and their timeouts run while they wait for it. */
const maxRequestsInFlight = 256;

/** One cluster alone may use all that its own limit allows. */
export const requestShares = ({ maxInFlight = 0 }: Partial<WriterLimits> = {}): FairShare =>
  new FairShare(Math.max(maxRequestsInFlight, maxInFlight));

/** Counts the requests of a plan that were repeated. */
export function countRetries(metrics: Metrics | undefined, identity: string, retries: number): void {
  if (retries > 0) metrics?.inc('sluice_write_retries_total', { identity }, retries);
}

/** The cluster with the limits and guards that a writer needs. */
export function writable(cluster: Cluster, options: WritableOptions): ClosableCluster {
  const { clock, fairShare, metrics, partitionShare } = options;
  const { identity } = cluster;
  const allLimits = { ...defaultsOf('writer'), ...options.limits };
  const { maxInFlight, maxPerSecond, maxRemovalPercent, maxAdditionPercent } = allLimits;
  const { maxRetriesPerSecond: retriesPerSecond } = allLimits;
  const onDelayed = () => metrics?.inc('sluice_write_retries_delayed_total', { identity });
  const perSecond = maxPerSecond === 0 ? {} : { perSecond: maxPerSecond };
  const limit = new AdaptiveLimit({ max: maxInFlight, ...perSecond, fairShare, clock });
  const hide = metrics?.show(
    { identity },
    {
      sluice_write_concurrency_limit: () => limit.current,
      sluice_write_requests_in_flight: () => limit.inFlight,
      sluice_write_requests_queued: () => limit.waiting,
    },
  );
  const massChangeGuard = (direction: Direction, percent: number) =>
    new MassChangeGuard(direction, {
      percent,
      clock,
      ...(partitionShare && { partitionShare }),
      onChecked: reportChecks(cluster, options, direction),
    });
  return {
    writer: cluster.writer,
    checks: cluster.checks,
    observe: metrics && observeRequests(cluster, metrics),
    server: cluster.server,
    limit,
    controllerLimits: controllerLimits(allLimits),
    retryLimit: retriesPerSecond === 0 ? undefined : new RetryLimit({ perSecond: retriesPerSecond, clock, onDelayed }),
    massChangeGuards: [massChangeGuard('removal', maxRemovalPercent), massChangeGuard('addition', maxAdditionPercent)],
    competingControllers: reportCompetingWrites(cluster, options),
    record: cluster.record,
    close: () => hide?.(),
  };
}

function controllerLimits(limits: Partial<WriterLimits>): WritableCluster['controllerLimits'] & {} {
  return Object.fromEntries(concurrentSyncs(limits).map(([controller, max]) => [controller, new FixedLimit(max)]));
}

function observeRequests({ identity }: Cluster, metrics: Metrics): Middleware {
  return meterRequests((verb, resource, status) => {
    if (verb === 'list' || verb === 'watch') return;
    // 0: without a response.
    const code = status === null ? '2xx' : status === 0 ? '<error>' : status;
    metrics.inc('sluice_write_requests_total', { identity, verb, resource, code });
  });
}

const heldBackMessages: Readonly<Record<Direction, string>> = {
  removal: 'removals held back; the cluster does not confirm them',
  addition: 'additions held back; the cluster does not confirm them',
};

function reportChecks({ name, identity }: Cluster, { clock, logger, metrics }: WritableOptions, direction: Direction) {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (result: CheckResult, reason: string) => {
    metrics?.inc(`sluice_mass_${direction}_checks_total`, { identity, result });
    if (result === 'confirmed' || result === 'overtaken' || clock.monotonic() - loggedAt < repeatLogMs) return;
    loggedAt = clock.monotonic();
    logger.error(heldBackMessages[direction], { cluster: name, reason });
  };
}

/** Minimum time between two reads that find out who caused a conflict, in milliseconds. */
const investigateMs = 1_000;

/** Repairs in a row that indicate a competing controller (ADR 0024); fewer may be one edit by a person. */
const persistentRepairs = 5;

function reportCompetingWrites(cluster: Cluster, options: WritableOptions): CompetingControllerDetection {
  const { identity, name } = cluster;
  const { clock, logger, metrics } = options;
  let [investigatedAt, loggedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const onConflict: CompetingControllerDetection['onConflict'] & {} = (
    { key, controller },
    { object, manager = '', at = '' },
  ) => {
    if (!isUpstreamManager(manager) || Date.parse(at) < clock.now() - recentMs) return;
    metrics?.inc('sluice_competing_controller_plans_total', { identity, controller });
    options.onCompetingController?.(cluster, manager);
    if (clock.monotonic() - loggedAt < repeatLogMs) return;
    loggedAt = clock.monotonic();
    const fields = { cluster: name, key: formatServiceKey(key), object, manager, at, advice: switchOffAdvice() };
    logger.error('another controller writes the same objects', fields);
  };
  return {
    ownManager: fieldManager,
    investigatesConflict: () => {
      if (clock.monotonic() - investigatedAt < investigateMs) return false;
      investigatedAt = clock.monotonic();
      return true;
    },
    onConflict,
    onCompetingWrite: (plan, write) => {
      const { key, controller, consecutiveRepairs = 0 } = plan;
      const { object, isReplacement, manager = 'unknown', at } = write;
      const fields = {
        cluster: name,
        key: formatServiceKey(key),
        controller,
        ...(isReplacement ? { replacement: object } : { object }),
        manager,
        ...(at !== undefined && { at }),
      };
      if (consecutiveRepairs < persistentRepairs) {
        onConflict(plan, write);
        logger.info('another client wrote a managed object; repairing it', fields);
        return;
      }
      metrics?.inc('sluice_competing_controller_plans_total', { identity, controller });
      logger.warn('competing controller overwrites managed objects', { ...fields, times: consecutiveRepairs });
    },
  };
}
