import { type ConnectedCluster, open } from '@sluice/fleet/clusters';
import { anonymousAccess } from '@sluice/kubernetes';
import {
  activityText,
  type Demo,
  type SimulationOptions,
  seedOf,
  startSimulatedServer,
  storyCommands,
} from './simulated-server.ts';

export interface SimulatedCluster extends ConnectedCluster {
  readonly about: readonly string[];
  readonly demo: Demo;
  /** Stops the activity. */
  pause(): void;
}

/** Starts the fake API server with a cluster simulator on loopback and connects to it over HTTP. */
export async function startSimulation(options: SimulationOptions): Promise<SimulatedCluster> {
  const { clock, random, logger } = options;
  const seed = seedOf(options);
  const { http, url, happening, pause } = await startSimulatedServer(seed, options);
  const cluster = await open(anonymousAccess(url, 'simulated-cluster'), { clock, random, logger });
  return {
    ...cluster,
    about: [activityText(seed, options.rate)],
    demo: {
      commands: storyCommands(),
      kubectl: [
        `kubectl --server ${url} get endpointslices -A --watch`,
        `kubectl --server ${url} delete pod -n payments ledger-db-0`,
      ],
      happening,
    },
    pause,
    async close() {
      await cluster.close();
      await http.close();
    },
  };
}
