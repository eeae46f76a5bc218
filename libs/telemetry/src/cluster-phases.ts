import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** Exposes 1 for the current phase of each cluster. */
export function clusterPhaseGauge(exposition: Exposition, phases: () => readonly ClusterPhase[]): void {
  const about = {
    name: 'sluice_cluster_phase',
    help: '1 for the current phase of each configured cluster',
    labelNames: ['cluster', 'phase'],
  };
  observableGauge(exposition, about, (report) => {
    for (const { name, phase } of phases()) report(1, { cluster: name, phase });
  });
}
