import { setTimeout as sleep } from 'node:timers/promises';
import type { Shape } from '../shape.ts';
import { type ClusterFault, FakeCluster } from './fake-cluster.ts';

export interface FakeClustersOptions {
  readonly clusters: number;
  /** Number of the first cluster. Default 0. */
  readonly first?: number;
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
  /** Flips happen in this many of the first clusters, one after the other. */
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
const timeoutMs = 10_000;

/** Many fake clusters, in a process other than Sluice's. */
export class FakeClusters {
  readonly #clusters: readonly FakeCluster[];
  readonly #options: FakeClustersOptions;

  constructor(options: FakeClustersOptions) {
    const { clusters, first = 0, shape, seed } = options;
    this.#options = options;
    this.#clusters = Array.from({ length: clusters }, (_, i) => new FakeCluster(shape, seed + 2 * (first + i)));
  }

  async serve(): Promise<void> {
    const { directory, clusters, first = 0, behindNetwork = 0 } = this.#options;
    for (const [i, fake] of this.#clusters.entries()) {
      await fake.serve(directory, clusterName(first + i), i >= clusters - behindNetwork);
    }
  }

  /** Number of the first `count` clusters whose slices do not contain all Pods of all Services yet. */
  incomplete(clusters: number): number {
    return this.#clusters.slice(0, clusters).filter(({ complete }) => !complete).length;
  }

  /** Writes of Endpoints and EndpointSlices in all clusters so far. */
  writes(): number {
    return this.#clusters.reduce((sum, { writes }) => sum + writes, 0);
  }

  inject(cluster: number, how: ClusterFault): Promise<void> {
    return this.#cluster(cluster).inject(how);
  }

  repair(cluster: number, how: ClusterFault): Promise<void> {
    return this.#cluster(cluster).repair(how);
  }

  /** Open loop: flips Pods at a fixed rate, one cluster after the other, whether or not the slices show earlier flips. */
  async flip({ rate, seconds, among, measured }: FlipsOptions): Promise<Flips> {
    const fakes = this.#clusters;
    for (const fake of fakes.slice(0, measured)) fake.takeResults();
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
      this.#cluster(done % among).flip();
      done += 1;
    }
    await this.#awaitFlips(measured);
    const results = fakes.slice(0, measured).map((fake) => fake.takeResults());
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
  async measureRecovery(cluster: number, limitMs: number): Promise<number> {
    const fake = this.#cluster(cluster);
    const start = performance.now();
    fake.flip();
    while (fake.pendingFlips > 0 && performance.now() - start < limitMs) await sleep(5);
    return fake.pendingFlips > 0 ? Number.NaN : performance.now() - start;
  }

  async #awaitFlips(clusters: number): Promise<void> {
    const fakes = this.#clusters.slice(0, clusters);
    const deadline = performance.now() + timeoutMs;
    while (fakes.some(({ pendingFlips }) => pendingFlips > 0) && performance.now() < deadline) await sleep(20);
  }

  #cluster(cluster: number): FakeCluster {
    const fake = this.#clusters[cluster];
    if (fake === undefined) throw new RangeError(`unknown cluster ${cluster}`);
    return fake;
  }
}

function clusterName(cluster: number): string {
  return `cluster-${String(cluster).padStart(3, '0')}`;
}
