import { needsEndpoints } from './conditions.ts';
import type { ServiceDescription, ServiceInCluster } from './describe-service.ts';
import type { ServingState } from './terms/index.ts';

/** By identity of the cluster, which may have several Services that are joined. Those that have none are not among them. */
export function servingStatesOf({ clusters }: ServiceDescription): ReadonlyMap<string, ServingState> {
  const members = Map.groupBy(clusters, ({ cluster }) => cluster);
  return new Map([...members].map(([cluster, services]) => [cluster, stateOf(services)]));
}

function stateOf(services: readonly ServiceInCluster[]): ServingState {
  const existing = services.filter(({ exists }) => exists);
  // What exists in a watched cluster counts, unless the cluster counts as lost.
  if (services.some(({ ageMs }) => ageMs !== null) || existing.some(({ counts }) => !counts)) return 'lost';
  if (existing.length === 0) return 'missing';
  if (existing.some(({ isComplete }) => !isComplete)) return 'unknown';
  const sum = (of: 'ready' | 'terminating' | 'all') => existing.reduce((n, { endpoints }) => n + endpoints[of], 0);
  const ready = sum('ready');
  if (ready === 0) return existing.some(needsEndpoints) ? 'none' : 'noneExpected';
  return ready >= sum('all') - sum('terminating') ? 'served' : 'partly';
}
