import type { NamedService, ProblemCounts, ServiceProblem } from './schemas.ts';

type Counted = Pick<ServiceProblem, 'severity' | 'from' | 'to'> & Pick<NamedService, 'cluster' | 'clusterName'>;
type Cluster = Pick<NamedService, 'cluster' | 'clusterName'>;
type Cell = ProblemCounts['clusters'][number]['cells'][number];

/** Where the time from `since` on is divided, and its end. */
export interface Buckets {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

/**
 * How many problems each cluster had in each bucket. A problem counts in all that it overlaps. Clusters with the most severe problems
 * come first, then those with more.
 */
export function countProblems(
  problems: readonly Counted[],
  clusters: readonly Cluster[],
  { since, until, stepMs }: Buckets,
): ProblemCounts['clusters'] {
  const cells = new Map(clusters.map((one) => [one.cluster, { ...one, cells: new Map<number, Cell>() }]));
  const bucketOf = (time: number) => Math.floor((Math.max(since, time) - since) / stepMs);
  for (const { cluster, clusterName, severity, from, to } of problems) {
    const row = cells.get(cluster) ?? { cluster, clusterName, cells: new Map<number, Cell>() };
    cells.set(cluster, row);
    const last = bucketOf(Math.min(to ?? until, until - 1));
    for (let bucket = Math.min(bucketOf(from), last); bucket <= last; bucket++) {
      const at = since + bucket * stepMs;
      const cell = row.cells.get(at) ?? { at, critical: 0, warning: 0, info: 0 };
      row.cells.set(at, { ...cell, [severity]: cell[severity] + 1 });
    }
  }
  return [...cells.values()]
    .map((row) => ({ ...row, cells: [...row.cells.values()].sort((a, b) => a.at - b.at) }))
    .sort(
      (a, b) => compareSeverity(total(a.cells), total(b.cells)) || a.clusterName.localeCompare(b.clusterName, 'en'),
    );
}

type Total = Omit<Cell, 'at'>;

const total = (cells: readonly Cell[]): Total =>
  cells.reduce<Total>(
    (sum, { critical, warning, info }) => ({
      critical: sum.critical + critical,
      warning: sum.warning + warning,
      info: sum.info + info,
    }),
    { critical: 0, warning: 0, info: 0 },
  );

const compareSeverity = (a: Total, b: Total): number =>
  b.critical - a.critical || b.warning - a.warning || b.info - a.info;
