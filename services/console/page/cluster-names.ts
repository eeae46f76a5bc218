/** What stands for a cluster in URLs, by UID. */
let names: ReadonlyMap<string, string> = new Map();

interface NamedCluster {
  readonly identity: string;
  readonly name: string;
}

/** Clusters have their name in URLs from now on, unless several have it. */
export function setClusterNames(clusters: readonly NamedCluster[]): void {
  const isUnique = ({ name }: NamedCluster) => clusters.filter((other) => other.name === name).length === 1;
  names = new Map(clusters.filter(isUnique).map(({ identity, name }) => [identity, name]));
}

/** The name of a cluster given by UID, where the name is unique; otherwise what is given. */
export const inUrl = (cluster: string): string => names.get(cluster) ?? cluster;
