import { Gauge, type Registry } from 'prom-client';

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** 1 for each cluster in the phase that it is in. */
export function clusterPhaseGauge(registry: Registry, phases: () => readonly ClusterPhase[]): void {
  new Gauge({
    name: 'sluice_cluster_phase',
    help: 'Clusters that this process is to serve, by where they stand: 1 for the phase of each',
    labelNames: ['cluster', 'phase'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, phase } of phases()) this.set({ cluster: name, phase }, 1);
    },
  });
}
