import { statSync } from 'node:fs';
import type { ConfiguredClusters } from '@sluice/clusters';
import type { NamespaceScope } from '@sluice/kubernetes';

export interface ClusterOptions {
  /** Clusters from a configuration, including the overrides of flags. */
  readonly named?: ConfiguredClusters;
  /** Name of the only cluster; default: its context. */
  readonly clusterName?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly namespaces?: readonly string[];
  readonly excludeNamespaces?: readonly string[];
  readonly clusterSecrets?: string;
  readonly clusterSecretsNamespace?: string;
  readonly clusterSecretsKubeconfig?: string;
}

/** Whether the options can select more than one cluster, now or later. */
export function selectsManyClusters({ named, kubeconfig, context, clusterSecrets }: ClusterOptions): boolean {
  if (named !== undefined || clusterSecrets !== undefined) return true;
  if (context === '*' || context?.includes(',')) return true;
  return kubeconfig !== undefined && statSync(kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Whether the options select a cluster. The default kubeconfig alone does not, because a run without a cluster is a
 * simulation and must not write to the cluster that kubectl happens to use.
 */
export function selectsCluster(options: ClusterOptions): boolean {
  const { kubeconfig, context, inCluster = false } = options;
  return kubeconfig !== undefined || context !== undefined || inCluster || selectsManyClusters(options);
}

export function namespaceScope({ namespaces, excludeNamespaces }: ClusterOptions): NamespaceScope | undefined {
  if (namespaces === undefined && excludeNamespaces === undefined) return undefined;
  return { only: namespaces, except: excludeNamespaces };
}
