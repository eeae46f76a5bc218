/** Measures what other zone ratios cost a cluster with many Services with topology hints. See `--help`. */

import { resolve } from 'node:path';
import { ensureBinaries } from '@sluice/local';
import { choice, integer, say, text } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { reliablePercentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { changes, measureTopology, type TopologyFigures } from './src/topology-measure.ts';

function tables(figures: ReadonlyMap<string, TopologyFigures>): readonly Table[] {
  const at = (values: readonly number[], ...shares: readonly number[]) =>
    shares.map((share) => number(reliablePercentile(values, share))).join(' · ');
  const rows = (cells: (figures: TopologyFigures) => readonly string[]) =>
    [...figures].map(([name, all]) => ({ cells: [name, ...cells(all)] }));
  return [
    {
      title: 'Services with hints',
      head: [
        '',
        'written after, p50 · p99 ms',
        'all decided, s',
        'decisions',
        'per s',
        'most in 1 s',
        'writes',
        'wrong',
      ],
      rows: rows(({ writtenMs, decidedSeconds, decisions, busiestSecond, writes, wrongServices }) => [
        at(writtenMs, 0.5, 0.99),
        ...[decidedSeconds, decisions, decisions / decidedSeconds, busiestSecond, writes, wrongServices].map(number),
      ]),
    },
    {
      title: 'Changes of other Services',
      head: ['', 'p50 · p99 · max ms before', 'p50 · p99 · max ms', 'missed', 'CPU s', 'API server CPU s'],
      rows: rows(({ flipsBeforeMs, flipsMs, missedFlips, cpu }) => [
        at(flipsBeforeMs, 0.5, 0.99, 1),
        at(flipsMs, 0.5, 0.99, 1),
        ...[missedFlips, cpu.sluice, cpu.apiServer].map(number),
      ]),
    },
  ];
}

await runBench({
  name: 'topology',
  about: `Services with topology hints and seven Pods each in three zones, on a real API server. The allocatable CPU of one Node changes.
With --change ratios, some Services then overload a zone, and the hints of the others still fit; with --change return, the Nodes
lacked information before, so all Services get hints. Meanwhile Pods of other Services change their readiness at a fixed rate, from
as many seconds before the change on. With --base, the same for another checkout, e.g. one that decides all Services at once.
`,
  options: {
    change: choice(Object.keys(changes) as (keyof typeof changes)[], 'ratios', 'what changes'),
    services: integer(2_000, 'Services with hints'),
    overloaded: integer(200, 'of them, those that the change overloads'),
    unrelated: integer(40, 'Services without hints'),
    rate: integer(50, 'changes of their Pods per second'),
    seconds: integer(20, 'duration of these changes, before the change of the Node and from it on'),
    timeout: integer(400, 'maximum seconds until all are decided'),
    base: text('DIR', 'folder of another checkout with its packages installed'),
  },
  async measure({ change, services, overloaded, unrelated, rate, seconds, timeout, base }, directory) {
    await ensureBinaries(say);
    const here = resolve(import.meta.dirname, '..');
    const programs = new Map([['sluice', here], ...(base === undefined ? [] : [['base', resolve(base)] as const])]);
    const shape = { overloaded, balanced: services - overloaded, unrelated };
    const options = { directory, change, shape, programs, rate, seconds, timeoutSeconds: timeout, say };
    const figures = await measureTopology(options);
    const all = [...figures.values()];
    return {
      tables: tables(figures),
      conditions: `Change: ${change}. ${services} Services with hints, ${overloaded} overloaded; ${rate} other changes/s for ${seconds} s, CPU in that time. `,
      json: { options: { change, shape, rate, seconds }, figures: Object.fromEntries(figures) },
      failed: all.some(({ wrongServices, missedFlips }) => wrongServices > 0 || missedFlips > 0),
    };
  },
});
