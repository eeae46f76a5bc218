import { setTimeout as sleep } from 'node:timers/promises';
import type { Shape } from '../shape.ts';
import { type Badness, World } from './world.ts';

export interface WorldsOptions {
  readonly clusters: number;
  readonly shape: Shape;
  readonly seed: number;
  /** Receives a kubeconfig per cluster. */
  readonly directory: string;
  /** This many of the last clusters are behind a network that can fail. */
  readonly behindNetwork?: number;
}

export interface FlipsOptions {
  /** Flips per second over all clusters. */
  readonly rate: number;
  readonly seconds: number;
  /** Flips happen in this many of the first clusters, in turn. */
  readonly among: number;
  /** Only this many of the first clusters are measured. */
  readonly measured: number;
}

export interface Flips {
  readonly flips: number;
  /** Latencies of the measured clusters, in milliseconds. */
  readonly latencies: readonly number[];
  readonly missing: number;
  /** Maximum delay of a flip behind its planned time, in milliseconds. */
  readonly lateMs: number;
}

/** Maximum wait for the last flips, in milliseconds. */
const patienceMs = 10_000;

/** Many fake clusters, in a process other than Sluice's. */
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

  /** Number of the first `count` clusters whose slices do not contain all Pods of all Services yet. */
  incomplete(clusters: number): number {
    return this.#worlds.slice(0, clusters).filter(({ complete }) => !complete).length;
  }

  spoil(cluster: number, how: Badness): Promise<void> {
    return this.#world(cluster).spoil(how);
  }

  heal(cluster: number, how: Badness): Promise<void> {
    return this.#world(cluster).heal(how);
  }

  /** Open loop: flips Pods at a fixed rate, one cluster after the other, whether or not the slices show earlier flips. */
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
   * Flips one more Pod of a cluster; resolves to the milliseconds until its slices show that and all earlier flips, or NaN
   * after `limitMs`.
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
    if (world === undefined) throw new RangeError(`unknown cluster ${cluster}`);
    return world;
  }
}

export function clusterName(cluster: number): string {
  return `cluster-${String(cluster).padStart(3, '0')}`;
}
