import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { type ConnectedCluster, open } from '@sluice/fleet/clusters';
import { anonymousAccess } from '@sluice/kubernetes';
import { type Clock, type Logger, type Random, randomInteger, seededRandom } from '@sluice/platform';
import { ClusterSimulator } from './simulator/cluster-simulator.ts';

export interface SimulationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The same seed produces the same cluster and activity. Default: random. */
  readonly seed?: number;
  /** Average activities per second. */
  readonly rate?: number;
}

export interface SimulatedCluster extends ConnectedCluster {
  readonly about: readonly string[];
  /** Stops the activity. */
  pause(): void;
}

/** Starts the fake API server with a cluster simulator on loopback and connects to it over HTTP. */
export async function startSimulation(options: SimulationOptions): Promise<SimulatedCluster> {
  const { clock, random, logger } = options;
  const seed = options.seed ?? randomInteger(random, 1, 999_999);
  const server = new FakeApiServer({ clock, random: seededRandom(seed) });
  const http = new ApiServerHttp({ server, clock });
  const url = await http.listen();
  const simulator = new ClusterSimulator({
    api: server,
    clock,
    random: seededRandom(seed + 1),
    ...(options.rate !== undefined && { rate: options.rate }),
  });
  simulator.start();
  const cluster = await open(anonymousAccess(url, 'simulated-cluster'), { clock, random, logger });
  return {
    ...cluster,
    about: [
      `Deployments roll out, Pods come and go, Nodes fail; each write is shown below. Repeat with --seed ${seed}`,
      `Inspect it: kubectl --server ${url} get endpointslices --all-namespaces --watch`,
      `Delete a Pod: kubectl --server ${url} delete pod -n shop NAME; then: bin/sluice explain shop/SERVICE --pod NAME`,
    ],
    pause: () => simulator.stop(),
    async close() {
      await cluster.close();
      await http.close();
    },
  };
}
