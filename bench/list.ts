/** Measures peak memory and time for reading very many Pods. See `--help`. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { kubeconfigOf } from '@sluice/fake-apiserver';
import { integer, integers, say, selection, text } from '@sluice/program';
import type { Reading } from './src/list/reader.ts';
import { runBench } from './src/run-bench.ts';
import { number } from './src/table.ts';

const METHODS: Readonly<Record<string, { readonly about: string; readonly server: readonly string[] }>> = {
  pages: { about: 'Sluice, pages of 500', server: ['--old'] },
  whole: { about: 'Sluice, one response without pages', server: ['--old', '--unpaged'] },
  'watch-list': { about: 'Sluice, WatchList', server: [] },
  informer: { about: '@kubernetes/client-node, informer', server: ['--old'] },
};

interface Measured {
  readonly pods: number;
  readonly about: string;
  readonly reading: Reading | string;
}

const file = (name: string): string => fileURLToPath(new URL(`./src/list/${name}`, import.meta.url));

/** Cells of the table for one measurement, or why it failed. */
function cells({ pods, about, reading }: Measured): readonly string[] {
  if (typeof reading === 'string') return [about, number(pods), reading, '', '', '', ''];
  const { seconds, cpuSeconds, peakMb, heldMb } = reading;
  return [
    about,
    number(pods),
    ...[seconds, cpuSeconds, Math.round(peakMb), Math.round(heldMb), reading.pods].map(number),
  ];
}

/** Returns the measurement, or why it failed. */
async function measure(
  method: string,
  server: readonly string[],
  heapMb: string | undefined,
  parent: string,
): Promise<Reading | string> {
  const directory = mkdtempSync(join(parent, 'list-'));
  const serving = start(['--expose-gc', file('generated-server.ts'), ...server]);
  try {
    const url = await firstLine(serving);
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url)));
    const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
    const reader = start(['--expose-gc', ...heap, file('reader.ts'), method, kubeconfig]);
    const line = await Promise.race([
      firstLine(reader),
      once(reader, 'exit').then(([code, signal]) => `exited: ${signal ?? code}`),
    ]);
    return line.startsWith('{') ? (JSON.parse(line) as Reading) : line;
  } finally {
    serving.kill();
  }
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  return 'exited without output';
}

await runBench({
  name: 'list',
  about: `Measures peak memory and time for reading very many Pods of 4 kB, with the watcher's methods and with the informer of
\`@kubernetes/client-node\`, each in its own process. Exit status 1 if Pods are missing.
`,
  options: {
    pods: integers([100_000, 150_000], 'numbers of Pods'),
    services: integer(1000, 'Services that select them'),
    methods: selection(Object.keys(METHODS), 'methods'),
    heap: text('MB', "heap limit of each process (Node's default)"),
  },
  async measure({ pods, services, methods, heap }, directory) {
    const measured: Measured[] = [];
    for (const count of pods) {
      for (const method of methods) {
        const { about, server } = METHODS[method] ?? { about: method, server: [] };
        const flags = ['--pods', `${count}`, '--services', `${services}`, ...server];
        const one = { pods: count, about, reading: await measure(method, flags, heap, directory) };
        measured.push(one);
        say(cells(one).join('  '));
      }
    }
    return {
      tables: [
        {
          title: `Reading all Pods, ${services} Services`,
          head: ['method', 'Pods', 'seconds', 'CPU s', 'peak MB', 'MB held', 'Pods read'],
          rows: measured.map((one) => ({ cells: cells(one) })),
        },
      ],
      json: { services, measured },
      failed: measured.some(({ pods, reading }) => typeof reading === 'string' || reading.pods < pods),
    };
  },
});
