import { count, type Given, optionsGiven, runProgram } from '@sluice/program';
import { explanations } from '@sluice/shadow';
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

const defaults = {
  seed: '1',
  seeds: '1',
  steps: '1000',
  'rest-points': '50',
  'max-endpoints-per-slice': undefined,
  evidence: '.cache/differential',
} as const;

async function main(): Promise<number> {
  const given = optionsGiven(defaults, help);
  return given === undefined ? 0 : compareWorkloads(given);
}

async function compareWorkloads(values: Given<typeof defaults>): Promise<number> {
  const options = {
    steps: count('steps', values.steps),
    restPoints: count('rest-points', values['rest-points']),
    evidence: values.evidence,
    ...(values['max-endpoints-per-slice'] !== undefined && {
      maxEndpointsPerSlice: count('max-endpoints-per-slice', values['max-endpoints-per-slice']),
    }),
  };
  const first = count('seed', values.seed);
  const seeds = count('seeds', values.seeds);
  const results: SeedResult[] = [];
  say('starting two control planes');
  const pair = await Pair.start();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Before the one that ends the process.
    process.prependOnceListener(signal, () => {
      clear();
      say('stopped before the end');
      summary(results);
    });
  }
  try {
    for (let seed = first; seed < first + seeds; seed++) {
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

await runProgram(main, 2);
