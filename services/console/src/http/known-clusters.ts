import type { ClusterStatus, LostReason } from '@sluice/logical-services';
import type { ConsoleSources } from '../ports.ts';
import type { ClusterView, OutageView } from '../view/schemas.ts';
import type { ReadableHistory, RouteContext } from './route-context.ts';

/** The clusters of the fleet, and those that it does not name but of which the history knows Services. */
export function knownClusters({ history, sources }: Pick<RouteContext, 'history' | 'sources'>) {
  const services = new Map<string, number>();
  for (const { key } of history.journals) services.set(key.cluster, (services.get(key.cluster) ?? 0) + 1);
  const known = sources.clusters();
  const named = new Set(known.map(({ identity }) => identity));
  const journals = [...history.journals];
  const others = [...services.keys()]
    .filter((identity) => !named.has(identity))
    .filter((identity) => journals.some((journal) => journal.key.cluster === identity && !journal.state.isRemoved))
    .map((identity) => ({ identity, name: identity, version: '', server: '', state: 'unknown' }));
  return [...known, ...others].map((cluster) => ({ ...cluster, services: services.get(cluster.identity) ?? 0 }));
}

export interface ObservedClusters {
  readonly history: Pick<ReadableHistory, 'logicalServices'>;
  readonly sources: Pick<ConsoleSources, 'clusters' | 'outage'>;
}

/**
 * Since when nothing is known of each cluster, also of those that the fleet does not name. Never later than what is known: since the last
 * answer to a watcher; of one that nobody watches, or whose watcher got no answer yet, since its last Change.
 */
export function clusterStatuses({ history, sources }: ObservedClusters): readonly ClusterStatus[] {
  const { logicalServices } = history;
  const fleetOutage = sources.outage?.() ?? null;
  const known = sources.clusters().map(({ identity, name, ...cluster }) => {
    if (isWatched(cluster)) return { identity, name, lost: null };
    const since = currentUntil(cluster, fleetOutage) ?? logicalServices.lastChangeAt(identity);
    return { identity, name, lost: { since, reason: reasonOf(cluster, fleetOutage) } };
  });
  const named = new Set(known.map(({ identity }) => identity));
  const others = [...logicalServices.clusters].filter((identity) => !named.has(identity));
  return [
    ...known,
    ...others.map((identity) => {
      const since = logicalServices.lastChangeAt(identity);
      // While the store does not answer, it is unknown which clusters there are.
      const reason = fleetOutage === null ? ('not watched' as const) : ('fleet not answering' as const);
      return { identity, name: identity, lost: { since, reason } };
    }),
  ];
}

/** When a watcher last knew the whole state of a cluster; undefined: none did. */
function currentUntil(
  { outage, watcher }: Pick<ClusterView, 'outage' | 'watcher'>,
  fleetOutage: OutageView | null,
): number | undefined {
  if (outage !== undefined) return outage.neverAnswered ? undefined : outage.since;
  return watcher === undefined ? undefined : fleetOutage?.since;
}

function reasonOf({ outage, watcher }: Pick<ClusterView, 'outage' | 'watcher'>, fleetOutage: unknown): LostReason {
  if (outage !== undefined) return outage.answers ? 'unusable' : 'not answering';
  return watcher !== undefined && fleetOutage !== null ? 'fleet not answering' : 'not watched';
}

/** A recording shows its last state as if it were the present. */
const isWatched = ({ state, outage }: Pick<ClusterView, 'state' | 'outage'>): boolean =>
  state === 'recorded' || (state === 'watched' && outage === undefined);
