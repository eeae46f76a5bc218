import type { ClusterStatus, LogicalService, LostClusterPolicy } from '@sluice/logical-services';
import { formatServiceKey } from '@sluice/messages';
import type { ServiceProblem } from '@sluice/recording';
import { allOf, outageReasons } from '@sluice/recording/problems';
import { isUnidentified } from '@sluice/store';
import type { LogicalServiceIndex } from '../view/logical-service-index.ts';
import type { ClusterView, ConditionView, LogicalServiceSummary } from '../view/schemas.ts';
import { clusterStatuses, type ObservedClusters } from './known-clusters.ts';

export interface ObservedServices extends ObservedClusters {
  readonly index: LogicalServiceIndex;
  readonly policy: LostClusterPolicy;
}

/** What is wrong at present with Services over all clusters, and which clusters are lost. `open`: what is wrong in single clusters. */
export async function problemsOverClusters(
  observed: ObservedServices,
  open: readonly ServiceProblem[],
  now: number,
): Promise<readonly ServiceProblem[]> {
  const { history, sources, index, policy } = observed;
  const clusters = clusterStatuses(observed);
  const outages = new Map(open.filter(({ reason }) => outageReasons.includes(reason)).map((one) => [one.key, one]));
  const counting = new Map<string, number>();
  const problems: ServiceProblem[] = [];
  for await (const [service, summary] of index.summaries(history.logicalServices, { clusters, policy, now })) {
    for (const { cluster, lostReason, counts, endpoints } of summary.clusters)
      if (lostReason !== null && counts && endpoints.ready > 0) counting.set(cluster, (counting.get(cluster) ?? 0) + 1);
    if (summary.conditions.some(isProblem)) problems.push(...problemsOf(service, summary, outages, now));
  }
  const views = new Map(sources.clusters().map((one) => [one.identity, one]));
  for (const one of clusters) problems.push(...lostCluster(one, views.get(one.identity), counting.get(one.identity)));
  return problems;
}

/** Conditions of several clusters together. The others are problems of a single cluster, or may be intended. */
const isProblem = (
  one: ConditionView,
): one is ConditionView & { type: 'NotServed' | 'ServedByOneCluster' | 'SpecDiffers' } =>
  one.type === 'NotServed' || one.type === 'ServedByOneCluster' || one.type === 'SpecDiffers';

function problemsOf(
  { specsChangedAt }: LogicalService,
  { namespace, name, clusters, conditions }: LogicalServiceSummary,
  outages: ReadonlyMap<string, ServiceProblem>,
  now: number,
): readonly ServiceProblem[] {
  const having = clusters.filter(({ exists }) => exists);
  if (new Set(having.map(({ cluster }) => cluster)).size < 2) return [];
  const key = formatServiceKey({ cluster: allOf, namespace, service: name });
  const idle = having
    .filter(({ counts, endpoints }) => !counts || endpoints.ready === 0)
    .map(({ cluster, name: service, ageMs }) => {
      const outage = outages.get(formatServiceKey({ cluster, namespace, service }));
      return { outage, since: outage?.from ?? (ageMs === null ? 0 : now - ageMs) };
    });
  // Somebody may have wanted it.
  const isScaledToZero = idle.length > 0 && idle.every(({ outage }) => outage?.reason === 'ScaledToZero');
  const last = idle.toSorted((a, b) => b.since - a.since)[0];
  return conditions.filter(isProblem).flatMap(({ type, message }) => {
    const problem = { key, reason: type, message, to: null };
    if (type === 'SpecDiffers' || !last?.since)
      return [{ ...problem, from: specsChangedAt, isStartKnown: false, event: null }];
    if (isScaledToZero) return [];
    const { since, outage } = last;
    return [{ ...problem, from: since, isStartKnown: outage?.isStartKnown ?? true, event: outage?.event ?? null }];
  });
}

/** `counting`: Services whose totals contain its last known endpoints. */
function lostCluster(
  { identity, name, lost }: ClusterStatus,
  view?: ClusterView,
  counting = 0,
): readonly ServiceProblem[] {
  // An outage of the fleet itself has alerts of its own.
  if (lost === null || lost.reason === 'fleet not answering') return [];
  const { outage, notWatchedSince } = view ?? {};
  // A cluster that is about to be watched is no problem.
  const from = outage?.since ?? notWatchedSince ?? (view === undefined ? lost.since : 0);
  if (from === 0) return [];
  const why = outage === undefined ? lost.reason : `${lost.reason} (${outage.reason})`;
  const effect =
    counting === 0 ? '' : `; its last known endpoints count for ${counting} ${counting === 1 ? 'Service' : 'Services'}`;
  const message = lost.since === 0 ? `${why}; nothing is known of it` : `${why}${effect}`;
  // The identity of a cluster that has never answered is unknown.
  const key = formatServiceKey({
    cluster: isUnidentified(identity) ? name : identity,
    namespace: allOf,
    service: allOf,
  });
  return [{ key, reason: 'LostCluster', message, from, to: null, isStartKnown: true, event: null }];
}
