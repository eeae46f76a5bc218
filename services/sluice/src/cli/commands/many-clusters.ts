import { statSync } from 'node:fs';
import type { ConfiguredClusters } from '@sluice/clusters';

export interface ManyClustersOptions {
  /** Those of a configuration, with what the flags say of them. */
  readonly named?: ConfiguredClusters;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly clusterSecrets?: string;
  readonly clusterSecretsNamespace?: string;
  readonly clusterSecretsKubeconfig?: string;
}

/** Whether the flags may name more than one cluster, now or later. */
export function namesMany({ named, kubeconfig, context, clusterSecrets }: ManyClustersOptions): boolean {
  if (named !== undefined || clusterSecrets !== undefined) return true;
  if (kubeconfig === undefined) return false;
  return (
    context === '*' || context?.includes(',') || statSync(kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true
  );
}
