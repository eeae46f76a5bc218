import { statSync } from 'node:fs';
import type { ClusterConfiguration, Configuration } from '@sluice/fleet/configuration';
import type { NamespaceScope } from '@sluice/kubernetes';

type Selection = Pick<Configuration, 'clusters' | 'clusterSecrets'>;

/** Whether a configuration can select more than one cluster, now or later. */
export function selectsManyClusters({ clusters, clusterSecrets }: Selection): boolean {
  const [first, ...others] = clusters;
  if (others.length > 0 || clusterSecrets !== undefined) return true;
  if (first?.context === '*' || first?.context?.includes(',')) return true;
  return (
    first?.kubeconfig !== undefined && statSync(first.kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

/**
 * Whether a configuration selects a cluster. The default kubeconfig alone does not, because a run without a cluster is
 * a simulation and must not write to the cluster that kubectl happens to use.
 */
export function selectsCluster({ clusters, clusterSecrets }: Selection): boolean {
  return clusters.length > 0 || clusterSecrets !== undefined;
}

export function namespaceScope({ namespaces, excludeNamespaces }: ClusterConfiguration): NamespaceScope | undefined {
  if (namespaces === undefined && excludeNamespaces === undefined) return undefined;
  return { only: namespaces, except: excludeNamespaces };
}
