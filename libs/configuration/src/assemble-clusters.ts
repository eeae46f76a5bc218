import type { z } from 'zod';
import type { ClusterConfiguration } from './configuration.ts';
import { clustersSchema } from './file-layer.ts';
import { type Layer, type Origin, where } from './layer.ts';
import type { Problems } from './problems.ts';
import { clusterSettings, type Path } from './settings.ts';
import type { Values } from './values.ts';

export interface Clusters {
  readonly clusters: readonly ClusterConfiguration[];
  readonly origin: Origin;
}

type GivenCluster = z.output<typeof clustersSchema>[number];

interface GivenClusters {
  readonly clusters: readonly GivenCluster[];
  readonly origin: Origin;
}

/** The clusters of the file, or the single one that variables and flags configure, which replaces them. */
export function assembleClusters(values: Values, given: Layer, problems: Problems): Clusters {
  const one = oneCluster(values);
  const listed = given.get('clusters');
  const result: GivenClusters =
    one ??
    (listed === undefined
      ? { clusters: [], origin: { from: 'default' } }
      : { clusters: clustersSchema.parse(listed.raw), origin: listed.origin });
  const names = new Set<string>();
  for (const [index, cluster] of result.clusters.entries()) {
    const at = one === undefined ? where(result.origin, `clusters[${index}]`) : where(result.origin, 'cluster');
    if (cluster.name !== undefined && names.has(cluster.name))
      problems.add(`${at}.name is ${JSON.stringify(cluster.name)}, which is already the name of another cluster`);
    if (cluster.name !== undefined) names.add(cluster.name);
    checkAccess(cluster, at, problems);
  }
  return { ...result, clusters: result.clusters.map(clusterConfiguration) };
}

function checkAccess(cluster: GivenCluster, at: string, problems: Problems): void {
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

function oneCluster(values: Values): GivenClusters | undefined {
  const paths = (Object.keys(clusterSettings) as (Path & `cluster.${string}`)[]).filter((path) => values.has(path));
  const [first] = paths;
  if (first === undefined) return undefined;
  const [kubeconfig, context] = [values.get('cluster.kubeconfig'), values.get('cluster.context')];
  const inCluster = values.get('cluster.inCluster');
  const name = values.get('cluster.name') ?? context;
  const [namespaces, excludeNamespaces] = [values.get('cluster.namespaces'), values.get('cluster.excludeNamespaces')];
  const cluster = clusterConfiguration({ name, kubeconfig, context, inCluster, namespaces, excludeNamespaces });
  return { clusters: [cluster], origin: values.originOf(first) };
}

function clusterConfiguration(given: GivenCluster): ClusterConfiguration {
  const { name, kubeconfig, context, inCluster, namespaces, excludeNamespaces } = given;
  return {
    ...(name !== undefined && { name }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(inCluster !== undefined && { inCluster }),
    ...(namespaces !== undefined && { namespaces }),
    ...(excludeNamespaces !== undefined && { excludeNamespaces }),
  };
}
