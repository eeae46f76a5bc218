import type { Logger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { openClusterSet } from './cluster-set.ts';
import type { Run } from './run-options.ts';
import type { ServedClusters } from './served-clusters.ts';

/** Starts several simulated clusters, and serves them as those of a kubeconfig. */
export async function openSimulatedClusters(count: number, run: Run, logger: Logger): Promise<ServedClusters> {
  const { configuration, seed, rate } = run;
  const { startSimulations, withoutEvents } = await import('@sluice/demo');
  const simulations = await startSimulations(count, {
    ...{ clock: systemClock, random: systemRandom, logger },
    ...(seed !== undefined && { seed }),
    ...(rate !== undefined && { rate }),
  });
  const { kubeconfig, about } = simulations;
  const selecting = {
    ...configuration,
    clusters: [{ kubeconfig, context: '*' }],
    // Nothing else writes to a simulated cluster.
    writer: { ...configuration.writer, takeOver: true },
  };
  const clusters = await openClusterSet(selecting, withoutEvents(logger));
  return {
    ...clusters,
    introduction: [`Sluice manages Endpoints and EndpointSlices of ${count} simulated clusters`, ...about],
    pause: () => simulations.pause(),
    close: () => simulations.close(),
  };
}
