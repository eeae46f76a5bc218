/** Reads all Pods of a server into memory with one method and prints the cost as JSON. Its own process, to measure its peak. */

import { readFileSync } from 'node:fs';
import { type Bus, noBusLimits, type PartitionReader, type StreamOffset } from '@sluice/bus';
import { type ClusterReader, Connection, HttpCluster, loadKubeconfig } from '@sluice/kubernetes';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { ClusterWatcher } from '@sluice/watcher';
import { parsePeak } from '../process-stats.ts';

export interface Reading {
  readonly seconds: number;
  /** CPU time of this process, which depends less on other load than the duration. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** Heap in use after everything is read and garbage is collected. */
  readonly heldMb: number;
  /** Pods published, or held in the cache. */
  readonly pods: number;
}

const [method = '', kubeconfig = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const before = performance.now();
  const held = method === 'informer' ? await readByInformer() : await readByWatcher();
  const seconds = (performance.now() - before) / 1000;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const peakMb = parsePeak(readFileSync('/proc/self/status', 'utf8'));
  globalThis.gc?.();
  const reading: Reading = { seconds, cpuSeconds, peakMb, heldMb: process.memoryUsage().rss / 1e6, pods: held() };
  process.stdout.write(`${JSON.stringify(reading)}\n`);
  process.exit(0);
}

/** The whole watcher: it lists, joins and publishes to a bus that discards everything. */
async function readByWatcher(): Promise<() => number> {
  const access = await loadKubeconfig({ paths: [kubeconfig] });
  const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };
  const connection = new Connection({ access, userAgent: 'sluice-bench', ...ports });
  const http = new HttpCluster({ connection, ...ports });
  const reader: ClusterReader = {
    watchList: method === 'watch-list',
    identity: http.identity.bind(http),
    list: http.list.bind(http),
    watch: http.watch.bind(http),
  };
  const bus = new SinkBus();
  const watcher = new ClusterWatcher({ ...ports, cluster: 'c', fencingToken: 1, reader, bus });
  void watcher.run(new AbortController().signal);
  await watcher.synced;
  // The first publish is pending when the caches are synced; the bus accepts it at once.
  await new Promise((resolve) => setImmediate(resolve));
  return () => bus.pods;
}

/** The informer of `@kubernetes/client-node`, used as documented. */
async function readByInformer(): Promise<() => number> {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  // The client rejects plain HTTP otherwise.
  config.clusters = config.clusters.map((cluster) => ({ ...cluster, skipTLSVerify: true }));
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
  const failed = Promise.withResolvers<never>();
  informer.on('error', (error: unknown) => failed.reject(error));
  await Promise.race([informer.start(), failed.promise]);
  return () => informer.list().length;
}

/** Accepts all records and keeps only their count. */
class SinkBus implements Bus {
  readonly partitions = 64;
  readonly limits = noBusLimits;
  pods = 0;

  async append(topic: string, _partition: number, records: Parameters<Bus['append']>[2]): Promise<undefined> {
    if (topic !== 'changes') return undefined;
    for (const { payload } of records) this.pods += Buffer.from(payload).toString().split('"kind":"pod"').length - 1;
    return undefined;
  }

  async end(): Promise<StreamOffset> {
    return { offset: 0, id: '', streamId: 'none' };
  }

  async beginning(): Promise<StreamOffset> {
    return this.end();
  }

  read(): PartitionReader {
    const closed = Promise.withResolvers<[]>();
    return { streamId: 'none', next: () => closed.promise, release() {}, close: () => closed.resolve([]) };
  }

  async close(): Promise<void> {}
}

await main();
