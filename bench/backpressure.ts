/** Measures the backlog while a part of a fleet is away, and how the fleet catches up. See `--help`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { type Missing, measureOutage, type Outage } from './src/outage-measure.ts';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { number, type Table } from './src/table.ts';

const HELP = `usage: node bench/backpressure.ts [options]      (or: npm run bench:backpressure -- [options])

Runs one process per role with NATS and Redis on this machine, and a fake cluster over HTTP whose Pods flip their
readiness, are created and are deleted. The reconciler, the writer or the cluster is away for some minutes and then
comes back. Shows the memory of each process, the backlog, and the writes while catching up. Fails if slices or
Endpoints are incorrect at the end.

  --minutes N       duration of the outage (10)
  --missing LIST    what is away: some of reconciler, writer, cluster, one after the other (all)
  --services N      Services (200)
  --pods N          Pods per Service (5)
  --rate N          Pod changes per second (50)
  --seed N          seed of the changes (1)
  --output FORMAT   table, json or markdown (table)
  --timeout N       maximum wait for convergence, in seconds (120)
  --help            this text
`;

const MISSING = ['reconciler', 'writer', 'cluster'] as const satisfies readonly Missing[];
const PROCESSES = ['watcher', 'reconciler', 'writer', 'NATS', 'Redis'];

const DEFAULTS = {
  minutes: '10',
  missing: MISSING.join(','),
  services: '200',
  pods: '5',
  rate: '50',
  seed: '1',
  output: 'table',
  timeout: '120',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const missing = list(values.missing).map((one) => oneOf('missing', one, MISSING));
  const options = {
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    minutes: count('minutes', values.minutes),
    rate: count('rate', values.rate),
    seed: count('seed', values.seed),
    timeoutSeconds: count('timeout', values.timeout),
  };
  requireProcessStats();
  await ensureNatsServer(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-backpressure-'));
  const outages: Outage[] = [];
  for (const one of missing) outages.push(await measureOutage(one, { ...options, directory, say }));
  // Kept on failure: it contains the logs.
  rmSync(directory, { recursive: true, force: true });
  const { services, pods } = options.shape;
  const title = `${services} Services × ${pods} Pods, ${options.rate} changes/s, ${options.minutes} min`;
  const tables = [summary(title, outages), ...outages.map(memory)];
  printResults(output, { tables, conditions: '', json: { ...options, outages } });
}

function summary(title: string, outages: readonly Outage[]): Table {
  return {
    title,
    head: ['away', 'changes', 'Changes queued', 'plans queued', 'writes meanwhile', 'writes after', 'converged s'],
    rows: outages.map((one) => {
      const { changes, backlog, writesMeanwhile, writesAfter, caughtUpSeconds } = one;
      const figures = [changes, backlog.changes, backlog.mutations, writesMeanwhile, writesAfter, caughtUpSeconds];
      return { ratio: false, cells: [one.missing, ...figures.map(number)] };
    }),
  };
}

/** Resident memory over time; the last column is after catching up. */
function memory({ missing, memory }: Outage): Table {
  return {
    title: `Memory in MB without ${missing}, by second`,
    head: ['', ...memory.map(({ seconds }) => String(Math.round(seconds)))],
    rows: PROCESSES.map((name) => ({
      ratio: false,
      cells: [name, ...memory.map(({ mb }) => number(Math.round(mb[name] ?? Number.NaN)))],
    })),
  };
}

await runProgram(main);
