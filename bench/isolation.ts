/**
 * Measures what bad clusters cost the good ones beside them. `--help` tells the rest.
 * Exit status 0 if all was seen and the bad ones recovered, 1 when not, 2 for wrong usage, 130 when interrupted.
 */
import { parseArgs } from 'node:util';
import { count, list, oneOf, UsageError } from './src/arguments.ts';
import { forms, type Isolation, measureIsolation, type Round } from './src/clusters/isolation-measure.ts';
import { machineDescription, requireProcessStats } from './src/process-stats.ts';
import { median, rounded } from './src/statistics.ts';
import { markdownTable, number, type Table, textTable } from './src/table.ts';

const HELP = `usage: node bench/isolation.ts [options]      (or: npm run bench:isolation -- [options])

Serves simulated clusters with one process of Sluice. Once all is right, three go bad: one is down, one answers after 5 s,
one answers 429 to everything. Pods become ready or not all the while, in the bad ones as well. Shows the latency of the
good ones beside that of a run in which there are only these, and how long the bad ones take to be right again once they
are well. The rounds are interleaved; medians.

  --clusters N      with the three bad ones (20)
  --services N      Services of each (20)
  --pods N          Pods of each Service (5)
  --rate N          changes a second, in all clusters together (100)
  --seconds N       how long (15)
  --rounds N        (3)
  --forms LIST      how the one is down: refused, swallowed: nothing arrives and nobody is told (all)
  --seed N          which Pods change (1)
  --output FORMAT   table, json or markdown (table)
  --help            this text
`;

async function main(): Promise<void> {
  const values = parse();
  if (values.help) return void process.stdout.write(HELP);
  const output = oneOf('output', values.output, ['table', 'json', 'markdown']);
  const options = {
    clusters: count('clusters', values.clusters),
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    rate: count('rate', values.rate),
    seconds: count('seconds', values.seconds),
    seed: count('seed', values.seed),
  };
  if (options.clusters < 4) throw new UsageError('--clusters: three go bad, so at least four are needed');
  const chosen = list(values.forms).map((form) => oneOf('forms', form, forms));
  const rounds = count('rounds', values.rounds);
  requireProcessStats();
  const measured: Isolation[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const form of [undefined, ...chosen]) {
      const one = await measureIsolation(form, options);
      measured.push(one);
      const recovery = one.recoverySeconds.map((seconds) => seconds.toFixed(1)).join(', ');
      say(
        `round ${round}, ${form ?? 'without'}: p99 ${one.p99.toFixed(1)} ms${recovery && `, right again after ${recovery} s`}`,
      );
    }
  }
  const conditions = { machine: machineDescription(), node: process.version };
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify({ ...conditions, ...options, measured }, rounded, 2)}\n`);
  } else {
    const print = output === 'markdown' ? markdownTable : textTable;
    const { clusters, rate, seconds } = options;
    const title = `${clusters - 3} good clusters, ${rate} changes/s for ${seconds} s, medians of ${rounds} rounds`;
    const table: Table = { title, head, rows: rowsOf(measured, chosen) };
    process.stdout.write(`${print(table)}\n${conditions.machine}, Node ${conditions.node}.\n`);
  }
  if (measured.some(({ missing, recoverySeconds }) => missing > 0 || recoverySeconds.some(Number.isNaN))) {
    process.exitCode = 1;
  }
}

const head = [
  '',
  'p50 ms',
  'p99 ms',
  'max ms',
  'missing',
  'CPU ms/change',
  'down: right s',
  'slow: right s',
  '429: right s',
];

function rowsOf(measured: readonly Isolation[], chosen: readonly Round[]): Table['rows'] {
  const figures = (form: Round | undefined) => {
    const these = measured.filter((one) => one.form === form);
    const of = (value: (one: Isolation) => number) => median(these.map(value));
    return [
      ...[of(({ p50 }) => p50), of(({ p99 }) => p99), of(({ max }) => max)],
      ...[these.reduce((sum, { missing }) => sum + missing, 0), of(({ cpuMsPerChange }) => cpuMsPerChange)],
      ...[0, 1, 2].map((i) => of(({ recoverySeconds }) => recoverySeconds[i] ?? Number.NaN)),
    ];
  };
  const without = figures(undefined);
  return [
    { ratio: false, cells: ['without bad ones', ...without.map(number)] },
    ...chosen.flatMap((form) => {
      const these = figures(form);
      const ratios = these.map((value, i) =>
        [0, 1, 2, 4].includes(i) ? `${(value / (without[i] ?? 1)).toFixed(2)}×` : '',
      );
      return [
        { ratio: false, cells: [`down: ${form}`, ...these.map(number)] },
        { ratio: true, cells: ['', ...ratios] },
      ];
    }),
  ];
}

function parse() {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
  try {
    return parseArgs({
      options: {
        clusters: text('20'),
        services: text('20'),
        pods: text('5'),
        rate: text('100'),
        seconds: text('15'),
        rounds: text('3'),
        forms: text(forms.join(',')),
        seed: text('1'),
        output: text('table'),
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

// The servers end with this process, however it ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  await main();
} catch (error) {
  const wrongUsage = error instanceof UsageError;
  say(wrongUsage ? `error: ${error.message}\n(--help tells what there is)` : String(error));
  process.exitCode = wrongUsage ? 2 : 1;
}
