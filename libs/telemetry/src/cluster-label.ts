import type { ClusterNames } from '@sluice/process';
import type { Labels } from './prometheus/series-by-labels.ts';

/**
 * The label `cluster`. Upstream's metrics lack it because kube-controller-manager serves one cluster, so a process with one
 * cluster omits it; a process with several adds it.
 */
export interface ClusterLabel {
  readonly names: readonly 'cluster'[];
  labels(identity: string): Labels;
}

/** An unknown cluster is labelled with its identity. */
export function clusterLabel(clusterNames: ClusterNames, fleet: boolean): ClusterLabel {
  if (!fleet) return { names: [], labels: () => none };
  const nameOf = (identity: string) => clusterNames.get(identity) ?? identity;
  return {
    names: ['cluster'],
    labels: (identity) => ({ cluster: nameOf(identity) }),
  };
}

const none: Labels = {};
