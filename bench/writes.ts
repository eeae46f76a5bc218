/** Compares methods of writing one endpoint: update, patch or apply. See `--help`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { startControlPlane } from '@sluice/local';
import { systemClock as clock } from '@sluice/process';
import { count, optionsGiven, runProgram } from '@sluice/program';
import { silentLogger } from '@sluice/runtime';
import { cpuSeconds } from './src/process-stats.ts';
import { percentile } from './src/statistics.ts';
import { type Flip, flipsOf, type WriteMethod, writeMethods } from './src/write-methods.ts';

const OBJECTS = 16;
const WARM_UP = 200;

const HELP = `usage: node bench/writes.ts [--seconds N]      (or: npm run bench:writes -- [--seconds N])

Compares update, patch and apply. One endpoint of slices with 20, 100 and 1,000 endpoints, and of Endpoints with 1,000
addresses, flips its readiness on a real API server. Shows CPU time and bytes of client and server, and the latency, for
each method.

  --seconds N   duration of each part (3)
`;

async function main(): Promise<void> {
  const given = optionsGiven({ seconds: '3' }, HELP);
  if (given === undefined) return;
  const seconds = count('seconds', given.seconds);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-writes-'));
  const controlPlane = await startControlPlane({ directory, name: 'writes', authorization: 'AlwaysAllow' });
  try {
    const access = await loadKubeconfig({ paths: [controlPlane.adminKubeconfig] });
    const connection = new Connection({ access, userAgent: 'sluice-bench', clock, logger: silentLogger });
    const { signal } = new AbortController();
    const cpuOf = (process: { readonly pid: number | undefined }) => cpuSeconds(process.pid ?? 0);
    const { etcd, kubeApiserver } = controlPlane.processes;

    const write = async (
      flip: Flip,
      method: WriteMethod,
      onAnswer?: (sent: unknown, got: unknown) => void,
    ): Promise<number> => {
      const { method: verb, body, headers, query = '' } = method.request(flip);
      const startedAt = performance.now();
      const answer = await connection.request({ method: verb, path: flip.path + query, body, headers, signal });
      onAnswer?.(body, answer.body);
      const { metadata } = answer.body as { metadata: { resourceVersion: string } };
      flip.done(metadata.resourceVersion);
      return performance.now() - startedAt;
    };

    const measure = async (
      flips: readonly Flip[],
      method: WriteMethod,
      inFlight: number,
    ): Promise<readonly string[]> => {
      for (let i = 0; i < WARM_UP; i++) {
        const flip = flips[i % flips.length];
        if (flip !== undefined) await write(flip, method);
      }
      const sizes: number[] = [];
      const [flip] = flips;
      if (flip !== undefined) await write(flip, method, (...bodies) => sizes.push(...bodies.map(bytesOf)));
      const [client, server, store] = [process.cpuUsage(), cpuOf(kubeApiserver), cpuOf(etcd)];
      const latencies: number[] = [];
      const until = performance.now() + seconds * 1000;
      await Promise.all(
        flips.slice(0, inFlight).map(async (flip) => {
          while (performance.now() < until) latencies.push(await write(flip, method));
        }),
      );
      const used = process.cpuUsage(client);
      const perWrite = (microseconds: number) => (microseconds / latencies.length).toFixed(0);
      return [
        `${(latencies.length / seconds).toFixed(0)}`,
        perWrite(used.user + used.system),
        perWrite((cpuOf(kubeApiserver) - server) * 1e6),
        perWrite((cpuOf(etcd) - store) * 1e6),
        percentile(latencies, 0.5).toFixed(2),
        percentile(latencies, 0.99).toFixed(2),
        ...sizes.map((bytes) => (bytes / 1000).toFixed(1)),
      ];
    };

    const columns = [
      'in flight',
      'writes/s',
      'client µs',
      'server µs',
      'etcd µs',
      'p50 ms',
      'p99 ms',
      'sent kB',
      'received kB',
    ];
    for (const [title, kind, size] of [
      ['EndpointSlice, 20 endpoints', 'slice', 20],
      ['EndpointSlice, 100 endpoints', 'slice', 100],
      ['EndpointSlice, 1,000 endpoints', 'slice', 1_000],
      ['Endpoints, 1,000 addresses', 'endpoints', 1_000],
    ] as const) {
      const flips = flipsOf(kind, OBJECTS, size);
      for (const flip of flips) {
        const created = await connection.request({
          method: 'POST',
          path: flip.collection,
          body: flip.object(),
          signal,
        });
        flip.done((created.body as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
      }
      process.stdout.write(`${title}\n${row('', columns)}`);
      for (const way of writeMethods) {
        for (const inFlight of [1, 8]) {
          process.stdout.write(row(way.name, [String(inFlight), ...(await measure(flips, way, inFlight))]));
        }
      }
      process.stdout.write('\n');
    }
    await connection.close();
  } finally {
    await controlPlane.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function bytesOf(body: unknown): number {
  return Buffer.isBuffer(body) ? body.length : Buffer.byteLength(JSON.stringify(body));
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(34)}${cells.map((cell) => cell.padStart(10)).join('')}\n`;
}

await runProgram(main);
