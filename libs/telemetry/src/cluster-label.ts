/**
 * Which metrics say whose they are. Those of upstream's controllers do not, since each process of theirs serves one
 * cluster; a process that serves a single one has exactly their labels, one that serves a fleet adds `cluster`.
 */
export interface ClusterLabel {
  readonly names: readonly 'cluster'[];
  /** Of `names`. */
  values(identity: string): readonly string[];
}

/**
 * `clusterNames`: by identity; clusters may be added later. One that is not known is counted under its identity.
 */
export function clusterLabel(clusterNames: ReadonlyMap<string, string>, fleet: boolean): ClusterLabel {
  if (!fleet) return { names: [], values: () => none };
  const nameOf = (identity: string) => clusterNames.get(identity) ?? identity;
  return {
    names: ['cluster'],
    values: (identity) => [nameOf(identity)],
  };
}

const none: readonly string[] = [];
