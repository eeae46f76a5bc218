/** Measures the backlog while a part of a fleet is away, and how the fleet catches up. See `--help`. */

import { ensureNatsServer } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import { type Missing, measureOutage, type Outage } from './src/outage-measure.ts';
import { runBench } from './src/run-bench.ts';
import { number, type Table } from './src/table.ts';

const MISSING = ['reconciler', 'writer', 'cluster'] as const satisfies readonly Missing[];
const PROCESSES = ['watcher', 'reconciler', 'writer', 'NATS', 'Redis'];

function summary(title: string, outages: readonly Outage[]): Table {
  return {
    title,
    head: ['away', 'changes', 'Changes queued', 'plans queued', 'writes meanwhile', 'writes after', 'converged s'],
    rows: outages.map((one) => {
      const { changes, backlog, writesMeanwhile, writesAfter, caughtUpSeconds } = one;
      const figures = [changes, backlog.changes, backlog.mutations, writesMeanwhile, writesAfter, caughtUpSeconds];
      return { cells: [one.missing, ...figures.map(number)] };
    }),
  };
}

/** Resident memory over time; the last column is after catching up. */
function memory({ missing, memory }: Outage): Table {
  return {
    title: `Memory in MB without ${missing}, by second`,
    head: ['', ...memory.map(({ seconds }) => String(Math.round(seconds)))],
    rows: PROCESSES.map((name) => ({
      cells: [name, ...memory.map(({ mb }) => number(Math.round(mb[name] ?? Number.NaN)))],
    })),
  };
}

await runBench({
  name: 'backpressure',
  about: `Runs one process per role with NATS and Redis on this machine, and a fake cluster over HTTP whose Pods flip their
readiness, are created and are deleted. The reconciler, the writer or the cluster is away for some minutes and then
comes back. Shows the memory of each process, the backlog, and the writes while catching up. Fails if slices or
Endpoints are incorrect at the end.
`,
  options: {
    minutes: integer(10, 'duration of the outage'),
    missing: selection(MISSING, 'what is away, one after the other'),
    services: integer(200, 'Services'),
    pods: integer(5, 'Pods per Service'),
    rate: integer(50, 'Pod changes per second'),
    seed: integer(1, 'seed of the changes'),
    timeout: integer(120, 'maximum wait for convergence, in seconds'),
  },
  async measure({ minutes, missing, services, pods, rate, seed, timeout }, directory) {
    const options = { shape: { services, pods }, minutes, rate, seed, timeoutSeconds: timeout };
    await ensureNatsServer(say);
    const outages: Outage[] = [];
    for (const one of missing) outages.push(await measureOutage(one, { ...options, directory, say }));
    const title = `${services} Services × ${pods} Pods, ${rate} changes/s, ${minutes} min`;
    return { tables: [summary(title, outages), ...outages.map(memory)], json: { ...options, outages } };
  },
});
