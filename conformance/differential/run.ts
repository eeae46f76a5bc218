import { parseArgs } from 'node:util';
import { explanations } from '@sluice/comparison';
import { Pair } from './pair.ts';
import { runSeed, type SeedResult } from './seed-run.ts';

const help = `Differential run: the same random workload on two genuine API servers, kube-controller-manager behind one
and Sluice behind the other. At each point of rest their Endpoints and EndpointSlices are compared.

  node conformance/differential/run.ts [options]

  --seed N         first seed (1)
  --seeds N        how many seeds, one after the other (1)
  --steps N        steps of each (1000)
  --rest-points N  points of rest of each (50)
  --max-endpoints-per-slice N  for both; left out, each seed chooses between 100, 10 and 3
  --evidence DIR   where the state and the logs of both sides go if they differ (.cache/differential)
  --help

The exit status is 1 if there is a difference that nothing explains, 2 if the run could not be made.
`;

function parse() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        seeds: { type: 'string', default: '1' },
        steps: { type: 'string', default: '1000' },
        'rest-points': { type: 'string', default: '50' },
        'max-endpoints-per-slice': { type: 'string' },
        evidence: { type: 'string', default: '.cache/differential' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : error}; --help tells what there is`);
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

async function main(values: ReturnType<typeof parse>): Promise<number> {
  const options = {
    steps: number('steps', values.steps),
    restPoints: number('rest-points', values['rest-points']),
    evidence: values.evidence,
    ...(values['max-endpoints-per-slice'] !== undefined && {
      maxEndpointsPerSlice: number('max-endpoints-per-slice', values['max-endpoints-per-slice']),
    }),
  };
  const first = number('seed', values.seed);
  const count = number('seeds', values.seeds);
  const results: SeedResult[] = [];
  say('starting two control planes');
  const pair = await Pair.start();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      clear();
      say('stopped before the end');
      summary(results);
      pair.stop().then(
        () => process.exit(signal === 'SIGINT' ? 130 : 143),
        (error: unknown) => fail(String(error)),
      );
    });
  }
  try {
    for (let seed = first; seed < first + count; seed++) {
      const result = await runSeed(pair, { ...options, seed }, progress);
      results.push(result);
      clear();
      for (const difference of result.differences) say(`\n${difference}\n`);
      if (results.length === 1) say(row(head));
      say(row(cells(result)));
    }
  } finally {
    await pair.stop();
  }
  summary(results);
  return results.some(({ differences }) => differences.length > 0) ? 1 : 0;
}

function number(name: string, text: string): number {
  const n = Number(text);
  return Number.isInteger(n) && n > 0 ? n : fail(`--${name} must be a whole number above zero, not "${text}"`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One line that is written over and over on a terminal; elsewhere nothing, the table tells enough. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

const head = [
  'seed',
  'max/slice',
  'steps',
  'refused',
  'rests',
  'restarts',
  'slices',
  'explained',
  'differences',
  'time',
];

function cells(result: SeedResult): string[] {
  const { seed, maxEndpointsPerSlice, steps, refused, restPoints, restarts, compared, differences, ranMs } = result;
  const explained = [...result.explained.values()].reduce((a, b) => a + b, 0);
  const counts = [seed, maxEndpointsPerSlice, steps, refused, restPoints, restarts, compared, explained];
  return [...counts.map(String), String(differences.length), `${Math.round(ranMs / 1000)} s`];
}

function row(texts: readonly string[]): string {
  return texts.map((text, i) => text.padStart((head[i] ?? '').length + 1)).join(' ');
}

function summary(results: readonly SeedResult[]): void {
  const sum = (of: (result: SeedResult) => number) => results.reduce((total, result) => total + of(result), 0);
  say('');
  say(
    `${results.length} seeds, ${sum((r) => r.steps)} steps, ${sum((r) => r.restPoints)} points of rest, ` +
      `${sum((r) => r.compared)} slices compared: ${sum((r) => r.differences.length)} differences unexplained`,
  );
  for (const { rules, why } of explanations) {
    const count = sum((result) => result.explained.get(rules) ?? 0);
    if (count > 0) say(`explained ${count} times by ${rules}: ${why}`);
  }
}

const values = parse();
if (values.help) process.stdout.write(help);
else {
  try {
    process.exitCode = await main(values);
  } catch (error) {
    fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
