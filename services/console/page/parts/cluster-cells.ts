import type { LogicalCluster, LogicalServiceSummary, ServingState } from '../../src/view/schemas.ts';
import { duration } from '../format.ts';

/** A Service in one cluster, as a cell of the matrix. */
export interface ClusterCell {
  readonly clusterName: string;
  readonly state: ServingState;
  readonly ready: number;
  readonly all: number;
  /** The Services of the cluster that are joined; empty: it has none. */
  readonly services: LogicalServiceSummary['clusters'];
  /** For people. */
  readonly text: string;
}

/** From the worst to the best, with a name for people. */
export const servingTexts: Readonly<Record<ServingState, string>> = {
  none: 'no ready endpoint',
  partly: 'partly ready',
  lost: 'lost',
  unknown: 'not yet known',
  missing: 'missing',
  noneExpected: 'no endpoint expected',
  served: 'served',
};

const states = Object.keys(servingTexts) as readonly ServingState[];

/** A cell for each cluster, in their order. */
export function cellsOf(
  { clusters: members }: Pick<LogicalServiceSummary, 'clusters'>,
  clusters: readonly LogicalCluster[],
): readonly ClusterCell[] {
  const byCluster = Map.groupBy(members, ({ cluster }) => cluster);
  return clusters.map(({ cluster, clusterName, lost }) => {
    const services = byCluster.get(cluster) ?? [];
    const sum = (of: 'ready' | 'all') => services.reduce((n, { endpoints }) => n + endpoints[of], 0);
    const state = services[0]?.state ?? (lost === null ? 'missing' : 'lost');
    const cell = { clusterName, state, ready: sum('ready'), all: sum('all'), services };
    return { ...cell, text: textOf(cell) };
  });
}

function textOf({ state, ready, all, services }: Omit<ClusterCell, 'text'>): string {
  if (state === 'missing') return services.length === 0 ? 'does not exist' : 'does not exist, but slices of it do';
  if (state === 'noneExpected') return 'no endpoint is expected';
  const endpoints = `${ready}/${all} endpoints ready`;
  if (state === 'unknown') return `${endpoints}, not all is known yet`;
  if (state !== 'lost') return endpoints;
  const [first] = services;
  if (first === undefined) return 'lost, nothing is known of it';
  const isCounted = services.some(({ counts }) => counts) ? 'they count' : 'they do not count';
  if (first.ageMs === null) return `counts as lost, ${endpoints}; ${isCounted}`;
  return `${first.lostReason}, ${endpoints} ${duration(first.ageMs)} ago; ${isCounted}`;
}

/** States in which clusters are, the worst first. */
export const presentStates = (counts: Readonly<Record<string, number>>): readonly [ServingState, number][] =>
  states.flatMap((state): [ServingState, number][] => (counts[state] ? [[state, counts[state]]] : []));

/** `2 no ready endpoint · 98 served` */
export const stateCountsText = (counts: Readonly<Record<string, number>>): string =>
  presentStates(counts)
    .map(([state, count]) => `${count} ${servingTexts[state]}`)
    .join(' · ');
