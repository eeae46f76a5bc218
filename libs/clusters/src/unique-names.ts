import type { ClusterCandidate, InvalidCluster } from './cluster-source.ts';

/** What the sources name, each name once. */
export interface UniqueNames {
  readonly wanted: ReadonlyMap<string, ClusterCandidate>;
  /** Of those that have a name which another has. */
  readonly duplicates: readonly InvalidCluster[];
}

/**
 * Whoever has a name keeps it, wherever the others stand, also while nothing can be made of what names it.
 *
 * @param holderOf who has the name now
 */
export function uniqueNames(
  candidates: readonly ClusterCandidate[],
  holderOf: (name: string) => ClusterCandidate | undefined,
  isSpoilt: (candidate: ClusterCandidate) => boolean,
): UniqueNames {
  const wanted = new Map<string, ClusterCandidate>();
  const duplicates: InvalidCluster[] = [];
  for (const [name, namesakes] of Map.groupBy(candidates, (candidate) => candidate.name)) {
    const holder = holderOf(name);
    const holds = ({ from }: ClusterCandidate) => from === holder?.from;
    const first = namesakes.find(holds) ?? (holder && isSpoilt(holder) ? holder : namesakes[0]);
    if (first === undefined) continue;
    wanted.set(name, first);
    const reason = `${first.from} has the same name: rename one of them`;
    const others = namesakes.filter(({ from }) => from !== first.from);
    duplicates.push(...others.map(({ from }) => ({ name, from, reason })));
  }
  return { wanted, duplicates };
}

/** A file that is being written, or a Secret that is spoilt, is no order to forget a cluster. */
export function unreadableCandidates(
  problems: readonly Pick<InvalidCluster, 'from'>[],
): (candidate: ClusterCandidate) => boolean {
  const spoilt = new Set(problems.map(({ from }) => from));
  return ({ from }) => spoilt.has(from.replace(/, context .*$/, ''));
}
