import type { ClusterCandidate, InvalidCluster } from './cluster-source.ts';

/** Candidates by name, each name once. */
export interface UniqueNames {
  readonly byName: ReadonlyMap<string, ClusterCandidate>;
  /** Candidates whose name is already taken. */
  readonly duplicates: readonly InvalidCluster[];
}

/**
 * Chooses one candidate per name. The current holder of a name keeps it, also while its source is unreadable.
 *
 * @param holderOf the current holder of a name
 */
export function uniqueNames(
  candidates: readonly ClusterCandidate[],
  holderOf: (name: string) => ClusterCandidate | undefined,
  isUnreadable: (candidate: ClusterCandidate) => boolean,
): UniqueNames {
  const byName = new Map<string, ClusterCandidate>();
  const duplicates: InvalidCluster[] = [];
  for (const [name, sameName] of Map.groupBy(candidates, (candidate) => candidate.name)) {
    const holder = holderOf(name);
    const holds = ({ from }: ClusterCandidate) => from === holder?.from;
    const first = sameName.find(holds) ?? (holder && isUnreadable(holder) ? holder : sameName[0]);
    if (first === undefined) continue;
    byName.set(name, first);
    const reason = `${first.from} has the same name: rename one of them`;
    const others = sameName.filter(({ from }) => from !== first.from);
    duplicates.push(...others.map(({ from }) => ({ name, from, reason })));
  }
  return { byName, duplicates };
}

/**
 * Matches the candidates from sources with problems. A half-written file or an invalid Secret must not remove a
 * cluster.
 */
export function unreadableCandidates(
  problems: readonly Pick<InvalidCluster, 'from'>[],
): (candidate: ClusterCandidate) => boolean {
  const unreadable = new Set(problems.map(({ from }) => from));
  return ({ from }) => unreadable.has(from.replace(/, context .*$/, ''));
}
