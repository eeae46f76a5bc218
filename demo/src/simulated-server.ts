import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { type Clock, type Logger, type Random, randomInteger, seededRandom } from '@sluice/platform';
import { ClusterSimulator } from './simulator/cluster-simulator.ts';
import type { SampleObjects } from './simulator/sample-objects.ts';

export interface SimulationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The same seed produces the same cluster and activity. Default: random. */
  readonly seed?: number;
  /** Average activities per second. */
  readonly rate?: number;
}

/** A simulated cluster with its API server on loopback. */
export interface SimulatedServer {
  readonly http: ApiServerHttp;
  readonly url: string;
  /** Stops the activity. */
  pause(): void;
}

export const seedOf = ({ seed, random }: Pick<SimulationOptions, 'seed' | 'random'>): number =>
  seed ?? randomInteger(random, 1, 999_999);

/** Starts the fake API server with a cluster simulator. */
export async function startSimulatedServer(
  seed: number,
  { clock, rate, objects }: Pick<SimulationOptions, 'clock' | 'rate'> & { readonly objects?: SampleObjects },
): Promise<SimulatedServer> {
  const server = new FakeApiServer({ clock, random: seededRandom(seed) });
  const http = new ApiServerHttp({ server, clock });
  const url = await http.listen();
  const simulator = new ClusterSimulator({
    api: server,
    clock,
    random: seededRandom(seed + 1),
    ...(rate !== undefined && { rate }),
    ...(objects !== undefined && { objects }),
  });
  simulator.start();
  return { http, url, pause: () => simulator.stop() };
}
