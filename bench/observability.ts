import { count, list, oneOf, optionsGiven, runProgram, share } from '@sluice/program';
import { conditionsNow } from './src/conditions.ts';
import { compareGenuine, onlookers } from './src/observability/genuine.ts';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';

const HELP = `usage: node bench/observability.ts [options]      (or: npm run bench:observability -- [options])

What it costs to be seen. \`--on genuine\`: CPU time per flip of \`sluice run\` on a genuine kube-apiserver and etcd, with nobody
who looks on, with metrics that are scraped, with the history of the console, and with traces at the default sampling on top of
that. They take turns on one control plane, each time in a process of its own that is warmed up first, another one first in
each round; \`more\` is the median of what each round's turns differ by from the first one named. \`--on replay\`: the same changes
one after the other through the whole pipeline in one process on a simulated API server, where turns are a second long and
differences of a few microseconds show; delivering spans is part of a turn. The collector of the spans is another process, which
takes everything and keeps nothing.

  --on WHERE         genuine or replay (genuine)
  --watched LIST     genuine: some of ${onlookers.join(', ')}; the first is what the others are compared with (nobody,all)
  --services N       genuine: Services (100)
  --pods N           genuine: Pods of each (20)
  --rates LIST       genuine: flips a second, one after the other (20,100)
  --seconds N        genuine: how long at each rate (10)
  --rounds N         genuine: turns of each (5)
  --scrape N         genuine: seconds from one scrape to the next (5)
  --turns N          replay: turns of each pipeline (10)
  --changes N        replay: changes in a turn, about a second of work (1000)
  --ratios LIST      replay: shares of the changes that are traced (0,0.05,1)
  --output FORMAT    table, json or markdown, on standard output (table)
`;

async function main(): Promise<void> {
  const given = optionsGiven(
    {
      ...{
        on: 'genuine',
        watched: 'nobody,all',
        services: '100',
        pods: '20',
        rates: '20,100',
        seconds: '10',
        rounds: '5',
      },
      ...{ scrape: '5', turns: '10', changes: '1000', ratios: '0,0.05,1', output: 'table' },
    },
    HELP,
  );
  if (given === undefined) return;
  const output = outputOf(given.output);
  const where = oneOf('on', given.on, ['genuine', 'replay']);
  const { commit, startedAt } = conditionsNow();
  const table = where === 'genuine' ? await genuine(given) : await replayed(given);
  const conditions = `Sluice ${commit}, ${startedAt.slice(0, 10)}, `;
  printResults(output, { tables: [table], conditions, json: { commit, startedAt, ...table } });
}

type Given = Readonly<Record<string, string>>;

async function genuine(given: Given) {
  requireProcessStats();
  const of = (name: string) => count(name, given[name] ?? '');
  return await compareGenuine({
    shape: { services: of('services'), pods: of('pods') },
    rates: list(given.rates ?? '').map((text) => count('rates', text)),
    ...{ seconds: of('seconds'), rounds: of('rounds'), scrapeSeconds: of('scrape') },
    watched: list(given.watched ?? '').map((text) => oneOf('watched', text, onlookers)),
  });
}

async function replayed(given: Given) {
  // Loads all of Sluice.
  const { compareReplayed } = await import('./src/observability/replayed.ts');
  return await compareReplayed({
    turns: count('turns', given.turns ?? ''),
    changes: count('changes', given.changes ?? ''),
    ratios: list(given.ratios ?? '').map((text) => share('ratios', text)),
  });
}

await runProgram(main);
