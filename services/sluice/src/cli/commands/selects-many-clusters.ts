import { statSync } from 'node:fs';
import type { ConfiguredClusters } from '@sluice/clusters';

export interface ClusterOptions {
  /** Clusters from a configuration, including the overrides of flags. */
  readonly named?: ConfiguredClusters;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
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
