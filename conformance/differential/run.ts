import { count, integer, runCommand, text, textOr } from '@sluice/program';
import { explanations } from '@sluice/shadow';
import { Pair } from './pair.ts';
import { runSeed, type SeedOptions, type SeedResult } from './run-seed.ts';

/** `seed` is the first one. */
interface Options extends SeedOptions {
  readonly seeds: number;
}

async function compareWorkloads({ seed: first, seeds, ...options }: Options): Promise<number> {
  const results: SeedResult[] = [];
  say('starting two control planes');
  const pair = await Pair.start();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Before the handler that exits the process.
    process.prependOnceListener(signal, () => {
      clear();
      say('interrupted');
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

/** A progress line that is overwritten on a terminal. Not shown elsewhere. */
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
  'checkpoints',
  'restarts',
  'slices',
  'explained',
  'differences',
  'time',
];

function cells(result: SeedResult): string[] {
  const { seed, maxEndpointsPerSlice, steps, refused, checkpoints, restarts, compared, differences, ranMs } = result;
  const explained = [...result.explained.values()].reduce((a, b) => a + b, 0);
  const counts = [seed, maxEndpointsPerSlice, steps, refused, checkpoints, restarts, compared, explained];
  return [...counts.map(String), String(differences.length), `${Math.round(ranMs / 1000)} s`];
}

function row(texts: readonly string[]): string {
  return texts.map((text, i) => text.padStart((head[i] ?? '').length + 1)).join(' ');
}

function summary(results: readonly SeedResult[]): void {
  const sum = (of: (result: SeedResult) => number) => results.reduce((total, result) => total + of(result), 0);
  say('');
  say(
    `${results.length} seeds, ${sum((r) => r.steps)} steps, ${sum((r) => r.checkpoints)} checkpoints, ` +
      `${sum((r) => r.compared)} slices compared: ${sum((r) => r.differences.length)} differences unexplained`,
  );
  for (const { rules, why } of explanations) {
    const count = sum((result) => result.explained.get(rules) ?? 0);
    if (count > 0) say(`explained ${count} times by ${rules}: ${why}`);
  }
}

await runCommand({
  usage: 'node conformance/differential/run.ts',
  about: `Runs the same random workload on two real API servers, with kube-controller-manager on one and Sluice on the other, and
compares their Endpoints and EndpointSlices at each checkpoint. Exit status 1 for an unexplained difference, 2 if the run
cannot be completed.
`,
  options: {
    seed: integer(1, 'first seed'),
    seeds: integer(1, 'number of seeds'),
    steps: integer(1000, 'steps per seed'),
    checkpoints: integer(50, 'checkpoints per seed'),
    'max-endpoints-per-slice': text('N', 'for both; by default each seed chooses 100, 10 or 3'),
    evidence: textOr('.cache/differential', 'DIR', 'folder for states and logs of both sides if they differ'),
  },
  main: ({ 'max-endpoints-per-slice': max, ...options }) =>
    compareWorkloads({
      ...options,
      ...(max !== undefined && { maxEndpointsPerSlice: count('max-endpoints-per-slice', max) }),
    }),
  failed: 2,
});
