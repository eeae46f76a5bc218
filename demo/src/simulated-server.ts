import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { type Clock, type Logger, type Random, randomInteger, seededRandom } from '@sluice/platform';
import { ClusterSimulator } from './simulator/cluster-simulator.ts';
import type { SampleObjects } from './simulator/sample-objects.ts';
import { storyServices } from './simulator/story.ts';

export interface SimulationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The same seed produces the same cluster and activity. Default: random. */
  readonly seed?: number;
  /** Average random activities per second. Default: few, and a story that repeats. */
  readonly rate?: number;
}

/** What a demo says about itself. */
export interface Demo {
  /** Arguments of `sluice` to try while it runs. */
  readonly commands: readonly string[];
  /** Further commands to try. */
  readonly kubectl: readonly string[];
  /** For people: what happens now. */
  happening(): string;
}

/** A simulated cluster with its API server on loopback. */
export interface SimulatedServer {
  readonly http: ApiServerHttp;
  readonly url: string;
  /** For people: what happens now in the story; empty without one. */
  happening(): string;
  /** Stops the activity. */
  pause(): void;
}

export const seedOf = ({ seed, random }: Pick<SimulationOptions, 'seed' | 'random'>): number =>
  seed ?? randomInteger(random, 1, 999_999);

interface ServerOptions extends Pick<SimulationOptions, 'clock' | 'rate'> {
  readonly objects?: SampleObjects;
  readonly hasStory?: boolean;
}

/** Starts the fake API server with a cluster simulator. */
export async function startSimulatedServer(
  seed: number,
  { clock, rate, objects, hasStory = true }: ServerOptions,
): Promise<SimulatedServer> {
  const server = new FakeApiServer({ clock, random: seededRandom(seed) });
  const http = new ApiServerHttp({ server, clock });
  const url = await http.listen();
  const simulator = new ClusterSimulator({
    api: server,
    clock,
    random: seededRandom(seed + 1),
    ...(rate === undefined ? { activity: hasStory ? 'story' : 'quiet' } : { rate }),
    ...(objects !== undefined && { objects }),
  });
  simulator.start();
  return { http, url, happening: () => simulator.happening, pause: () => simulator.stop() };
}

/** Says what changes in a demo, and how to repeat it. `cluster`: that of the story, if there are several. */
export function activityText(seed: number, rate: number | undefined, cluster?: string): string {
  const { rollout, probe } = storyServices;
  const where = cluster === undefined ? '' : ` in ${cluster}`;
  const what =
    rate === undefined
      ? `A story repeats${where}: ${rollout} rolls out, a Pod of ${probe} fails its probe, a Node is lost and replaced`
      : `Deployments roll out, Pods come and go, Nodes fail: about ${rate} changes a second`;
  return `${what} (same again: --seed ${seed})`;
}

/** About the Services of the story, which exist in every simulated cluster. `cluster`: its name, if there are several. */
export function storyCommands(cluster?: string): readonly string[] {
  const { rollout, probe } = storyServices;
  const of = cluster === undefined ? '' : ` --cluster ${cluster}`;
  return [`explain ${probe}${of}`, `history ${rollout}${of} --since 5m`, `trace ${rollout}${of}`];
}
