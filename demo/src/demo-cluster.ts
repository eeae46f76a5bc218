import { type ConnectedCluster, open } from '@sluice/fleet/clusters';
import { anonymousAccess } from '@sluice/kubernetes';
import { type SimulationOptions, seedOf, startSimulatedServer } from './simulated-server.ts';
import { withoutEvents } from './without-events.ts';

export interface SimulatedCluster extends ConnectedCluster {
  readonly about: readonly string[];
  /** Stops the activity. */
  pause(): void;
}

/** Starts the fake API server with a cluster simulator on loopback and connects to it over HTTP. */
export async function startSimulation(options: SimulationOptions): Promise<SimulatedCluster> {
  const { clock, random, logger } = options;
  const seed = seedOf(options);
  const { http, url, pause } = await startSimulatedServer(seed, options);
  const ports = { clock, random, logger: withoutEvents(logger) };
  const cluster = await open(anonymousAccess(url, 'simulated-cluster'), ports);
  return {
    ...cluster,
    about: [
      `Deployments roll out, Pods come and go, Nodes fail; each write is shown below. Repeat with --seed ${seed}`,
      `Inspect it: kubectl --server ${url} get endpointslices --all-namespaces --watch`,
      `Delete a Pod: kubectl --server ${url} delete pod -n shop NAME; then: bin/sluice explain shop/SERVICE --pod NAME`,
    ],
    pause,
    async close() {
      await cluster.close();
      await http.close();
    },
  };
}
