import type { Logger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { openClusterSet } from './cluster-set.ts';
import { demoLogger } from './demo-logger.ts';
import type { Run } from './run-options.ts';
import type { ServedClusters } from './served-clusters.ts';

/** Starts several simulated clusters, and serves them as those of a kubeconfig. */
export async function openSimulatedClusters(count: number, run: Run, logger: Logger): Promise<ServedClusters> {
  const { configuration, seed, rate } = run;
  const { startSimulations } = await import('@sluice/demo');
  const simulations = await startSimulations(count, {
    ...{ clock: systemClock, random: systemRandom, logger },
    ...(seed !== undefined && { seed }),
    ...(rate !== undefined && { rate }),
  });
  const { kubeconfig, about, demo } = simulations;
  const selecting = {
    ...configuration,
    clusters: [{ kubeconfig, context: '*' }],
    // Nothing else writes to a simulated cluster.
    writer: { ...configuration.writer, takeOver: true },
  };
  const clusters = await openClusterSet(selecting, demoLogger(logger));
  return {
    ...clusters,
    introduction: [`Sluice manages the endpoints of ${count} simulated clusters; nothing real is touched`, ...about],
    demo,
    pause: () => simulations.pause(),
    close: () => simulations.close(),
  };
}
