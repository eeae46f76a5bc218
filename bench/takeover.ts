/**
 * Measures how long the Services of a process that is gone wait for another one. `--help` tells the rest.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries, ensureNatsServer, KUBERNETES_VERSION } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import type { Role } from './src/fleet.ts';
import { outputOf, printResults } from './src/output.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { type Signal, type Takeover, TakeoverScene } from './src/takeover-measure.ts';

const HELP = `usage: node bench/takeover.ts [options]      (or: npm run bench:takeover -- [options])

Starts a genuine API server and on it a fleet with two processes of each role, with default settings. Ends one of them,
changes a Pod each of some Services that were its business, and takes the time from the signal to the watch event of the
EndpointSlice that shows the change. Then a new process comes, and so on.

  --services N      Services (100)
  --pods N          Pods of each Service (20)
  --roles LIST      some of watcher, reconciler, writer (all)
  --signals LIST    some of SIGKILL, SIGTERM (both)
  --repetitions N   of each role and signal (50)
  --probes N        Services that are changed each time, at most (3)
  --seed N          which process, Services and Pods, and when (1)
  --output FORMAT   table, json or markdown (table)
  --patience N      longest wait for anything, in seconds (60)
  --help            this text
`;

const PROCESSES = ['watcher', 'reconciler', 'writer'] as const satisfies readonly Role[];
const SIGNALS = ['SIGKILL', 'SIGTERM'] as const satisfies readonly Signal[];

const DEFAULTS = {
  services: '100',
  pods: '20',
  roles: PROCESSES.join(','),
  signals: SIGNALS.join(','),
  repetitions: '50',
  probes: '3',
  seed: '1',
  output: 'table',
  patience: '60',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const roles = list(values.roles).map((role) => oneOf('roles', role, PROCESSES));
  const signals = list(values.signals).map((signal) => oneOf('signals', signal, SIGNALS));
  const options = {
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    probes: count('probes', values.probes),
    repetitions: count('repetitions', values.repetitions),
    patienceSeconds: count('patience', values.patience),
    seed: count('seed', values.seed),
  };
  await ensureBinaries(say);
  await ensureNatsServer(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-takeover-'));
  const scene = await TakeoverScene.open({ ...options, directory });
  const takeovers: Takeover[] = [];
  for (let repetition = 1; repetition <= options.repetitions; repetition += 1) {
    for (const role of roles) {
      for (const signal of signals) {
        const takeover = await scene.takeOver(role, signal);
        takeovers.push(takeover);
        say(
          `${repetition} of ${options.repetitions}: ${role} ${signal}, last after ${number(Math.max(...takeover.milliseconds))} ms`,
        );
      }
    }
  }
  await scene.close();
  // Left behind when something failed: the logs are in it.
  rmSync(directory, { recursive: true, force: true });
  const { shape } = options;
  const title = `${shape.services} Services × ${shape.pods} Pods, two processes of each role`;
  printResults(output, {
    tables: [table(title, takeovers)],
    conditions: `Kubernetes ${KUBERNETES_VERSION}. `,
    json: { kubernetes: KUBERNETES_VERSION, ...options, takeovers },
  });
}

/** Milliseconds over all Services that were changed, and over the last one of each take-over. */
function table(title: string, takeovers: readonly Takeover[]): Table {
  const kinds = [...Map.groupBy(takeovers, ({ role, signal }) => `${role} ${signal}`)];
  return {
    title,
    head: ['', 'take-overs', 'Services', 'p50 ms', 'p99 ms', 'most ms', 'last p50', 'last p99'],
    rows: kinds.map(([kind, these]) => {
      const all = these.flatMap(({ milliseconds }) => milliseconds);
      const last = these.map(({ milliseconds }) => Math.max(...milliseconds));
      const figures = [percentile(all, 0.5), percentile(all, 0.99), percentile(all, 1)];
      const cells = [these.length, all.length, ...figures, percentile(last, 0.5), percentile(last, 0.99)];
      return { ratio: false, cells: [kind, ...cells.map(number)] };
    }),
  };
}

await runProgram(main);
