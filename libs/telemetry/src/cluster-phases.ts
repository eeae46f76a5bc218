import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/observable.ts';

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** Exposes 1 for the current phase of each cluster. */
export function clusterPhaseGauge(exposition: Exposition, phases: () => readonly ClusterPhase[]): void {
  const about = {
    name: 'sluice_cluster_phase',
    help: 'Clusters that this process is to serve, by where they stand: 1 for the phase of each',
    labelNames: ['cluster', 'phase'],
  };
  observableGauge(exposition, about, (report) => {
    for (const { name, phase } of phases()) report(1, name, phase);
  });
}
