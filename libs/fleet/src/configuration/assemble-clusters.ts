import type { ClusterConfiguration } from './configuration.ts';
import { type Layer, type Origin, where } from './layer.ts';
import type { Problems } from './problems.ts';
import { type Path, settingAt } from './setting-paths.ts';
import { clusterSettings } from './settings.ts';
import { defined, type Values } from './values.ts';

interface Clusters {
  readonly clusters: readonly ClusterConfiguration[];
  readonly origin: Origin;
}

const clusterPaths = Object.keys(clusterSettings) as (Path & `cluster.${string}`)[];

/** The clusters of the file, or the single one that variables and flags configure, which replaces them. */
export function assembleClusters(values: Values, given: Layer, problems: Problems): Clusters {
  const one = oneCluster(values);
  const listed = given.get('clusters');
  const origin: Origin = one?.origin ?? listed?.origin ?? { from: 'default' };
  // Safe: the file's clusters were validated when it was read.
  const clusters = one?.clusters ?? ((listed?.raw ?? []) as readonly Record<string, unknown>[]).map(fromFile);
  const names = new Set<string>();
  for (const [index, cluster] of clusters.entries()) {
    const at = where(origin, one === undefined ? `clusters[${index}]` : 'cluster');
    if (cluster.name !== undefined && names.has(cluster.name))
      problems.add(`${at}.name is ${JSON.stringify(cluster.name)}, which is already the name of another cluster`);
    if (cluster.name !== undefined) names.add(cluster.name);
    checkAccess(cluster, at, problems);
  }
  return { clusters, origin };
}

function checkAccess(cluster: ClusterConfiguration, at: string, problems: Problems): void {
  const { kubeconfig, context, inCluster } = cluster;
  if (cluster.namespaces !== undefined && cluster.excludeNamespaces !== undefined) {
    problems.add(`${at} sets both namespaces and excludeNamespaces; set one of them`);
  }
  if (inCluster && (kubeconfig !== undefined || context !== undefined)) {
    problems.add(`${at} sets both inCluster and a kubeconfig or context; set one of them`);
  } else if (!inCluster && kubeconfig === undefined && context === undefined) {
    problems.add(`${at} needs a kubeconfig, a context of $KUBECONFIG or ~/.kube/config, or inCluster: true in a Pod`);
  }
}

function oneCluster(values: Values): Clusters | undefined {
  const first = clusterPaths.find((path) => values.has(path));
  if (first === undefined) return undefined;
  const cluster = values.section('cluster');
  const named = defined({ ...cluster, name: cluster.name ?? cluster.context });
  return { clusters: [named], origin: values.originOf(first) };
}

function fromFile(cluster: Readonly<Record<string, unknown>>): ClusterConfiguration {
  const entries = clusterPaths.flatMap((path) => {
    const name = path.slice('cluster.'.length);
    const value = cluster[name];
    return value === undefined ? [] : [[name, settingAt(path).kind.parse(value, () => undefined)]];
  });
  return Object.fromEntries(entries);
}
