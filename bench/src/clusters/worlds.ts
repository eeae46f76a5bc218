import { setTimeout as sleep } from 'node:timers/promises';
import type { Shape } from '../shape.ts';
import { type Badness, World } from './world.ts';

export interface WorldsOptions {
  readonly clusters: number;
  readonly shape: Shape;
  readonly seed: number;
  /** Gets a kubeconfig for each cluster. */
  readonly directory: string;
  /** The last ones stand behind a network that can fail. */
  readonly behindNetwork?: number;
}

export interface FlipsOptions {
  /** In all of them together, a second. */
  readonly rate: number;
  readonly seconds: number;
  /** The first so many clusters, in one after the other. */
  readonly among: number;
  /** Of these, the first so many. What the others do is not measured. */
  readonly measured: number;
}

export interface Flips {
  readonly flips: number;
  /** Of the measured clusters, in milliseconds. */
  readonly latencies: readonly number[];
  readonly missing: number;
  /** How late a flip was at most, by its plan. */
  readonly lateMs: number;
}

/** Longest wait for the last flips to be seen, in milliseconds. */
const patienceMs = 10_000;

/** Many simulated clusters in one process, which is not that of Sluice. */
export class Worlds {
  readonly #worlds: readonly World[];
  readonly #options: WorldsOptions;

  constructor(options: WorldsOptions) {
    const { clusters, shape, seed } = options;
    this.#options = options;
    this.#worlds = Array.from({ length: clusters }, (_, i) => new World(shape, seed + 2 * i));
  }

  async serve(): Promise<void> {
    const { directory, clusters, behindNetwork = 0 } = this.#options;
    for (const [i, world] of this.#worlds.entries()) {
      await world.serve(directory, clusterName(i), i >= clusters - behindNetwork);
    }
  }

  /** How many of the first so many clusters have not shown all Pods of all Services yet. */
  incomplete(clusters: number): number {
    return this.#worlds.slice(0, clusters).filter(({ complete }) => !complete).length;
  }

  spoil(cluster: number, how: Badness): Promise<void> {
    return this.#world(cluster).spoil(how);
  }

  heal(cluster: number, how: Badness): Promise<void> {
    return this.#world(cluster).heal(how);
  }

  /** Pods become ready or not at a fixed rate, in one cluster after the other, whether or not the last ones were seen. */
  async flip({ rate, seconds, among, measured }: FlipsOptions): Promise<Flips> {
    const worlds = this.#worlds;
    for (const world of worlds.slice(0, measured)) world.takeResults();
    const total = Math.round(rate * seconds);
    const start = performance.now();
    let lateMs = 0;
    for (let done = 0; done < total; ) {
      const wait = start + (done * 1000) / rate - performance.now();
      if (wait > 0) {
        await sleep(Math.max(1, wait));
        continue;
      }
      lateMs = Math.max(lateMs, -wait);
      this.#world(done % among).flip();
      done += 1;
    }
    await this.#seen(measured);
    const results = worlds.slice(0, measured).map((world) => world.takeResults());
    return {
      ...{ flips: total, lateMs },
      latencies: results.flatMap(({ latencies }) => latencies),
      missing: results.reduce((sum, { missing }) => sum + missing, 0),
    };
  }

  /**
   * Flips one more Pod of a cluster; resolves to the milliseconds until its slices show that and all that happened before,
   * NaN if they do not.
   */
  async settle(cluster: number, limitMs: number): Promise<number> {
    const world = this.#world(cluster);
    const start = performance.now();
    world.flip();
    while (world.open > 0 && performance.now() - start < limitMs) await sleep(5);
    return world.open > 0 ? Number.NaN : performance.now() - start;
  }

  async #seen(clusters: number): Promise<void> {
    const worlds = this.#worlds.slice(0, clusters);
    const deadline = performance.now() + patienceMs;
    while (worlds.some(({ open }) => open > 0) && performance.now() < deadline) await sleep(20);
  }

  #world(cluster: number): World {
    const world = this.#worlds[cluster];
    if (world === undefined) throw new RangeError(`there is no cluster ${cluster}`);
    return world;
  }
}

export function clusterName(cluster: number): string {
  return `cluster-${String(cluster).padStart(3, '0')}`;
}
