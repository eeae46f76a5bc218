/** Measures Sluice on many clusters at once. See `--help`. */

import { ensureNatsServer } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import {
  topologies as all,
  type ClustersOptions,
  type MeasuredClusters,
  measureClusters,
} from './src/clusters/clusters-measure.ts';
import { heapOption } from './src/heap/write-snapshots.ts';
import { runBench } from './src/run-bench.ts';
import { number, type Table } from './src/table.ts';

function tableOf({ clusters, shape, rate, seconds }: ClustersOptions, measured: readonly MeasuredClusters[]): Table {
  return {
    title: `${clusters} clusters × ${shape.services} Services × ${shape.pods} Pods, ${rate} changes/s for ${seconds} s`,
    head: [
      ...[
        '',
        'complete s',
        'start CPU s',
        'start peak MB',
        'p50 ms',
        'p99 ms',
        'max ms',
        'missing',
        'idle CPU ms/s',
        'CPU ms/change',
      ],
      ...['peak MB', 'MB at the end', 'MB/cluster', 'parts', 'load late ms'],
    ],
    rows: measured.map((one) => ({
      cells: [
        one.topology,
        ...[one.completeSeconds, one.startCpuSeconds, one.startPeakMb, one.p50, one.p99, one.max, one.missing],
        ...[
          one.idleCpuMsPerSecond,
          one.cpuMsPerChange,
          one.peakMb,
          one.mb,
          one.mb / clusters,
          partsOf(one),
          one.lateMs,
        ],
      ].map((cell) => (typeof cell === 'number' ? number(cell) : cell)),
    })),
  };
}

function partsOf({ mbOf }: MeasuredClusters): string {
  return Object.entries(mbOf)
    .map(([name, mb]) => `${name} ${number(mb)}`)
    .join(', ');
}

await runBench({
  name: 'clusters',
  about: `Serves many fake clusters over HTTP from one process. Measures the start of Sluice until all Pods of every Service
are in its EndpointSlices and Endpoints; then Pods flip their readiness at a fixed rate, spread over all clusters.
Latency is from the change of the Pod to the write of the slice that shows it, both at the API server. Exit status 1
if a flip never became visible.
`,
  options: {
    clusters: integer(100, 'clusters'),
    services: integer(100, 'Services per cluster'),
    pods: integer(10, 'Pods per Service'),
    rate: integer(200, 'changes per second over all clusters'),
    seconds: integer(30, 'duration'),
    topologies: selection(all, 'one process, a worker, or one process per role; the last two with NATS and Redis', [
      'all-in-one',
    ]),
    workers: integer(1, 'processes of the topology worker'),
    seed: integer(1, 'seed of the changes'),
    timeout: integer(240, 'maximum wait for the start, in seconds'),
    heap: heapOption,
  },
  async measure({ clusters, services, pods, rate, seconds, topologies, workers, seed, timeout, heap }, directory) {
    const options: ClustersOptions = {
      clusters,
      shape: { services, pods },
      rate,
      seconds,
      workers,
      seed,
      timeoutSeconds: timeout,
      heap,
    };
    if (topologies.some((topology) => topology !== 'all-in-one')) await ensureNatsServer(say);
    const measured: MeasuredClusters[] = [];
    for (const topology of topologies) measured.push(await measureClusters(topology, options, directory));
    return {
      tables: [tableOf(options, measured)],
      json: { ...options, measured },
      failed: measured.some(({ missing }) => missing > 0),
    };
  },
});
