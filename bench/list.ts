/**
 * Measures peak memory and time for reading very many Pods, with the watcher's methods and with the informer of
 * `@kubernetes/client-node`, each in its own process. See `--help`.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { kubeconfigOf } from '@sluice/fake-apiserver';
import { count, list, oneOf, optionsGiven, runProgram } from '@sluice/program';
import type { Reading } from './src/list/reader.ts';
import { machineDescription, requireProcessStats } from './src/process-stats.ts';

const HELP = `usage: node bench/list.ts [options]      (or: npm run bench:list -- [options])

  --pods N,N       numbers of Pods (100000,150000)
  --services N     Services that select them (1000)
  --methods LIST   some of pages, whole, watch-list, informer (all)
  --heap MB        heap limit of each process; 0: Node's default (0)
  --json           print JSON
`;

const METHODS: Readonly<Record<string, { readonly about: string; readonly server: readonly string[] }>> = {
  pages: { about: 'Sluice, pages of 500', server: ['--old'] },
  whole: { about: 'Sluice, one response without pages', server: ['--old', '--unpaged'] },
  'watch-list': { about: 'Sluice, WatchList', server: [] },
  informer: { about: '@kubernetes/client-node, informer', server: ['--old'] },
};

const file = (name: string): string => fileURLToPath(new URL(`./src/list/${name}`, import.meta.url));

async function main(): Promise<void> {
  const values = optionsGiven(
    { pods: '100000,150000', services: '1000', methods: Object.keys(METHODS).join(','), heap: '0', json: false },
    HELP,
  );
  if (values === undefined) return;
  requireProcessStats();
  const rows: { pods: number; about: string; reading: Reading | string }[] = [];
  if (!values.json) process.stdout.write(`${machineDescription()}, Node ${process.version}\n\n${HEAD}`);
  for (const pods of list(values.pods).map((text) => count('pods', text))) {
    for (const method of list(values.methods).map((name) => oneOf('methods', name, Object.keys(METHODS)))) {
      const chosen = METHODS[method];
      if (chosen === undefined) continue;
      const server = ['--pods', `${pods}`, '--services', values.services, ...chosen.server];
      const row = { pods, about: chosen.about, reading: await measure(method, server, values.heap) };
      rows.push(row);
      if (!values.json) process.stdout.write(line(row));
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
}

const HEAD =
  '| Pods | method | seconds | CPU s | peak MB | MB held | Pods |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: |\n';

function line({ pods, about, reading }: { pods: number; about: string; reading: Reading | string }): string {
  if (typeof reading === 'string') return `| ${pods} | ${about} | ${reading} | | | | |\n`;
  const { seconds, cpuSeconds, peakMb, heldMb } = reading;
  const figures = `${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${peakMb.toFixed(0)} | ${heldMb.toFixed(0)} | ${reading.pods}`;
  return `| ${pods} | ${about} | ${figures} |\n`;
}

/** Returns the measurement, or why it failed. */
async function measure(method: string, server: readonly string[], heapMb: string): Promise<Reading | string> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-list-'));
  const serving = start(['--expose-gc', file('generated-server.ts'), ...server]);
  try {
    const url = await firstLine(serving);
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url)));
    const heap = heapMb === '0' ? [] : [`--max-old-space-size=${heapMb}`];
    const reader = start(['--expose-gc', ...heap, file('reader.ts'), method, kubeconfig]);
    const line = await Promise.race([
      firstLine(reader),
      once(reader, 'exit').then(([code, signal]) => `exited: ${signal ?? code}`),
    ]);
    return line.startsWith('{') ? (JSON.parse(line) as Reading) : line;
  } finally {
    serving.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  return 'no error message';
}

await runProgram(main);
