/**
 * Which metrics say whose they are. The metrics of upstream's controllers have no such label, since each process of
 * theirs serves one cluster; one that serves a single cluster has exactly their labels, a fleet adds `cluster`.
 */
export interface ClusterLabel {
  readonly names: readonly 'cluster'[];
  of(identity: string): { readonly cluster?: string };
}

/** `names`: by identity, the names of the clusters that this process serves. */
export function clusterLabel(names: ReadonlyMap<string, string>): ClusterLabel {
  if (names.size < 2) return { names: [], of: () => none };
  const labels = new Map([...names].map(([identity, cluster]) => [identity, { cluster }]));
  // What comes for a cluster that is not (any more) of this fleet is counted under its identity.
  return { names: ['cluster'], of: (identity) => labels.get(identity) ?? { cluster: identity } };
}

const none = {};
