/** Measures how long the Services of a stopped process wait for its successor. See `--help`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries, ensureNatsServer, KUBERNETES_VERSION } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import type { Role } from './src/fleet.ts';
import { outputOf, printResults } from './src/output.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { type Signal, type Takeover, TakeoverTestbed } from './src/takeover-measure.ts';

const HELP = `usage: node bench/takeover.ts [options]      (or: npm run bench:takeover -- [options])

Starts a real API server and a fleet with two processes per role and default settings. Stops one of them, changes a
Pod of some of its Services, and measures the time from the signal to the watch event of the EndpointSlice that
shows the change. Then starts a new process and repeats.

  --services N      Services (100)
  --pods N          Pods per Service (20)
  --roles LIST      some of watcher, reconciler, writer (all)
  --signals LIST    some of SIGKILL, SIGTERM (both)
  --repetitions N   per role and signal (50)
  --probes N        maximum number of Services changed each time (3)
  --seed N          seed of the random choices (1)
  --output FORMAT   table, json or markdown (table)
  --timeout N       maximum wait for any step, in seconds (60)
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
  timeout: '60',
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
    timeoutSeconds: count('timeout', values.timeout),
    seed: count('seed', values.seed),
  };
  await ensureBinaries(say);
  await ensureNatsServer(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-takeover-'));
  const testbed = await TakeoverTestbed.open({ ...options, directory });
  const takeovers: Takeover[] = [];
  for (let repetition = 1; repetition <= options.repetitions; repetition += 1) {
    for (const role of roles) {
      for (const signal of signals) {
        const takeover = await testbed.takeOver(role, signal);
        takeovers.push(takeover);
        say(
          `${repetition} of ${options.repetitions}: ${role} ${signal}, last after ${number(Math.max(...takeover.milliseconds))} ms`,
        );
      }
    }
  }
  await testbed.close();
  // Kept on failure: it contains the logs.
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
