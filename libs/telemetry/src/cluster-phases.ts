import type { Exposition } from './series/exposition.ts';
import { shown } from './series/shown.ts';

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** 1 for each cluster in the phase that it is in. */
export function clusterPhaseGauge(exposition: Exposition, phases: () => readonly ClusterPhase[]): void {
  const about = {
    name: 'sluice_cluster_phase',
    help: 'Clusters that this process is to serve, by where they stand: 1 for the phase of each',
    labelNames: ['cluster', 'phase'],
  };
  shown(exposition, about, (show) => {
    for (const { name, phase } of phases()) show(1, name, phase);
  });
}
