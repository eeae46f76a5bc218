import type { FakeClustersOptions, Flips, FlipsOptions } from './fake-clusters.ts';
import { FakeClustersProcess } from './fake-clusters-process.ts';

/** Clusters per process: their connections must stay below a usual limit of open files, and their objects in one heap. */
const perProcess = 250;

interface Shard {
  readonly clusters: number;
  readonly process: FakeClustersProcess;
}

/** Fake clusters in as many processes as they need. */
export class FakeClusterShards {
  readonly #shards: readonly Shard[];

  private constructor(shards: readonly Shard[]) {
    this.#shards = shards;
  }

  static async start(options: FakeClustersOptions): Promise<FakeClusterShards> {
    const shards: Shard[] = [];
    for (let first = 0; first < options.clusters; first += perProcess) {
      const clusters = Math.min(perProcess, options.clusters - first);
      shards.push({ clusters, process: await FakeClustersProcess.start({ ...options, first, clusters }) });
    }
    return new FakeClusterShards(shards);
  }

  /** Number of clusters whose slices do not contain all Pods of all Services yet. */
  async incomplete(): Promise<number> {
    const counts = this.#shards.map(({ clusters, process }) => process.request('incomplete', clusters));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Flips Pods at a fixed rate, spread over all clusters. */
  async flip({ rate, seconds }: Pick<FlipsOptions, 'rate' | 'seconds'>): Promise<Flips> {
    const total = this.#shards.reduce((sum, { clusters }) => sum + clusters, 0);
    const parts = await Promise.all(
      this.#shards.map(({ clusters, process }) =>
        process.request('flip', { rate: (rate * clusters) / total, seconds, among: clusters, measured: clusters }),
      ),
    );
    return {
      flips: parts.reduce((sum, { flips }) => sum + flips, 0),
      latencies: parts.flatMap(({ latencies }) => latencies),
      missing: parts.reduce((sum, { missing }) => sum + missing, 0),
      lateMs: Math.max(...parts.map(({ lateMs }) => lateMs)),
    };
  }

  stop(): void {
    for (const { process } of this.#shards) process.stop();
  }
}
