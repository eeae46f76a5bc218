import { count, list, oneOf, optionsGiven, runProgram, share } from '@sluice/program';
import { conditionsNow } from './src/conditions.ts';
import { compareReal, observabilityLevels } from './src/observability/real.ts';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';

const HELP = `usage: node bench/observability.ts [options]      (or: npm run bench:observability -- [options])

Measures the cost of observability. \`--on real\`: CPU time per flip of \`sluice run\` on a real kube-apiserver and
etcd at several levels: off, with metrics that are scraped, with the console's history, and with traces at the
default sampling on top of that. Each measurement is a new process that is warmed up first; the levels alternate on
one control plane. \`more\` is the median over the rounds of the difference from the first level. \`--on replay\`:
the same changes, one after the other, through the whole pipeline in one process on the fake API server, which shows
differences of a few microseconds; delivering spans is included. The span collector is another process and discards
everything.

  --on WHERE         real or replay (real)
  --levels LIST      real: some of ${observabilityLevels.join(', ')}; the first is the baseline (off,all)
  --services N       real: Services (100)
  --pods N           real: Pods per Service (20)
  --rates LIST       real: flips per second, one rate after the other (20,100)
  --seconds N        real: duration at each rate (10)
  --rounds N         rounds per level (real: 5, replay: 10)
  --scrape N         real: seconds between scrapes (5)
  --changes N        replay: changes per round (1000)
  --ratios LIST      replay: sampling ratios of traces (0,0.05,1)
  --output FORMAT    table, json or markdown, on standard output (table)
`;

async function main(): Promise<void> {
  const given = optionsGiven(
    {
      ...{
        on: 'real',
        levels: 'off,all',
        services: '100',
        pods: '20',
        rates: '20,100',
        seconds: '10',
        rounds: undefined,
      },
      ...{ scrape: '5', changes: '1000', ratios: '0,0.05,1', output: 'table' },
    },
    HELP,
  );
  if (given === undefined) return;
  const output = outputOf(given.output);
  const where = oneOf('on', given.on, ['real', 'replay']);
  const { commit, startedAt } = conditionsNow();
  const table = where === 'real' ? await measureReal(given) : await measureReplayed(given);
  const conditions = `Sluice ${commit}, ${startedAt.slice(0, 10)}, `;
  printResults(output, { tables: [table], conditions, json: { commit, startedAt, ...table } });
}

type Given = Readonly<Record<string, string | undefined>>;

async function measureReal(given: Given) {
  requireProcessStats();
  const of = (name: string) => count(name, given[name] ?? '');
  return await compareReal({
    shape: { services: of('services'), pods: of('pods') },
    rates: list(given.rates ?? '').map((text) => count('rates', text)),
    ...{ seconds: of('seconds'), rounds: count('rounds', given.rounds ?? '5'), scrapeSeconds: of('scrape') },
    levels: list(given.levels ?? '').map((text) => oneOf('levels', text, observabilityLevels)),
  });
}

async function measureReplayed(given: Given) {
  // Imported lazily, because it loads all of Sluice.
  const { compareReplayed } = await import('./src/observability/replayed.ts');
  return await compareReplayed({
    rounds: count('rounds', given.rounds ?? '10'),
    changes: count('changes', given.changes ?? ''),
    ratios: list(given.ratios ?? '').map((text) => share('ratios', text)),
  });
}

await runProgram(main);
