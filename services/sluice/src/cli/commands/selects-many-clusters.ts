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
  if (kubeconfig === undefined) return false;
  return (
    context === '*' || context?.includes(',') || statSync(kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

export function namespaceScope({ namespaces, excludeNamespaces }: ClusterOptions): NamespaceScope | undefined {
  if (namespaces === undefined && excludeNamespaces === undefined) return undefined;
  return { only: namespaces, except: excludeNamespaces };
}
