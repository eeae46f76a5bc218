/** Compares methods of writing one endpoint: update, patch or apply. See `--help`. */

import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { startControlPlane } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { integer } from '@sluice/program';
import { cpuSeconds } from './src/process-stats.ts';
import { runBench } from './src/run-bench.ts';
import { percentile, reliablePercentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { type Flip, flipsOf, type WriteMethod, writeMethods } from './src/write-methods.ts';

const OBJECTS = 16;
const WARM_UP = 200;
const KINDS = [
  ['EndpointSlice, 20 endpoints', 'slice', 20],
  ['EndpointSlice, 100 endpoints', 'slice', 100],
  ['EndpointSlice, 1,000 endpoints', 'slice', 1_000],
  ['Endpoints, 1,000 addresses', 'endpoints', 1_000],
] as const;
const HEAD = [
  ...['', 'in flight', 'writes/s', 'client µs', 'server µs', 'etcd µs', 'p50 ms', 'p99 ms'],
  ...['sent kB', 'received kB'],
];

const { signal: never } = new AbortController();

interface Load {
  readonly flips: readonly Flip[];
  readonly method: WriteMethod;
  readonly inFlight: number;
  readonly seconds: number;
  /** CPU seconds of etcd and kube-apiserver. */
  readonly cpu: () => readonly number[];
}

/** The figures of `HEAD` from `writes/s` on. */
async function measure(connection: Connection, { flips, method, inFlight, seconds, cpu }: Load): Promise<number[]> {
  for (let i = 0; i < WARM_UP; i++) {
    const flip = flips[i % flips.length];
    if (flip !== undefined) await write(connection, flip, method);
  }
  const [first] = flips;
  const bodies = first === undefined ? [] : await write(connection, first, method);
  const client = process.cpuUsage();
  const [etcd = 0, server = 0] = cpu();
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
  await Promise.all(
    flips.slice(0, inFlight).map(async (flip) => {
      while (performance.now() < until) {
        const startedAt = performance.now();
        await write(connection, flip, method);
        latencies.push(performance.now() - startedAt);
      }
    }),
  );
  const used = process.cpuUsage(client);
  const [etcdAfter = 0, serverAfter = 0] = cpu();
  const perWrite = (microseconds: number) => Math.round(microseconds / latencies.length);
  return [
    Math.round(latencies.length / seconds),
    perWrite(used.user + used.system),
    perWrite((serverAfter - server) * 1e6),
    perWrite((etcdAfter - etcd) * 1e6),
    percentile(latencies, 0.5),
    reliablePercentile(latencies, 0.99),
    ...bodies.map((body) => bytesOf(body) / 1000),
  ];
}

/** Returns the bodies of request and response. */
async function write(connection: Connection, flip: Flip, { request }: WriteMethod): Promise<readonly unknown[]> {
  const { method, body, headers, query = '' } = request(flip);
  const response = await connection.request({ method, path: flip.path + query, body, headers, signal: never });
  flip.done(resourceVersionOf(response.body));
  return [body, response.body];
}

async function create(connection: Connection, flip: Flip): Promise<void> {
  const request = { method: 'POST', path: flip.collection, body: flip.object(), signal: never } as const;
  flip.done(resourceVersionOf((await connection.request(request)).body));
}

const resourceVersionOf = (object: unknown) =>
  (object as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion;

function bytesOf(body: unknown): number {
  return Buffer.isBuffer(body) ? body.length : Buffer.byteLength(JSON.stringify(body));
}

await runBench({
  name: 'writes',
  about: `Compares update, patch and apply. One endpoint of slices with 20, 100 and 1,000 endpoints, and of Endpoints with 1,000
addresses, flips its readiness on a real API server. Shows CPU time and bytes of client and server, and the latency, for
each method.
`,
  options: { seconds: integer(3, 'duration of each part') },
  async measure({ seconds }, directory) {
    const controlPlane = await startControlPlane({ directory, name: 'writes', authorization: 'AlwaysAllow' });
    const access = await loadKubeconfig({ paths: [controlPlane.adminKubeconfig] });
    const connection = new Connection({ access, userAgent: 'sluice-bench', clock, logger: silentLogger });
    const { etcd, kubeApiserver } = controlPlane.processes;
    const cpu = () => [etcd, kubeApiserver].map(({ pid = 0 }) => cpuSeconds(pid));
    try {
      const tables: Table[] = [];
      for (const [title, kind, size] of KINDS) {
        const flips = flipsOf(kind, OBJECTS, size);
        for (const flip of flips) await create(connection, flip);
        const rows: Table['rows'][number][] = [];
        for (const method of writeMethods) {
          for (const inFlight of [1, 8]) {
            const figures = await measure(connection, { flips, method, inFlight, seconds, cpu });
            rows.push({ cells: [method.name, ...[inFlight, ...figures].map(number)] });
          }
        }
        tables.push({ title, head: HEAD, rows });
      }
      return { tables, json: { seconds, tables } };
    } finally {
      await connection.destroy();
      await controlPlane.stop();
    }
  },
});
