/** Measures the cost of observability. See `--help`. */

import { choice, count, integer, integers, selection, shares, text } from '@sluice/program';
import { compareReal, observabilityLevels } from './src/observability/real.ts';
import type { ReplayedOptions } from './src/observability/replayed.ts';
import { runBench } from './src/run-bench.ts';

await runBench({
  name: 'observability',
  about: `Measures the cost of observability. \`--on real\`: CPU time per flip of \`sluice run\` on a real kube-apiserver and
etcd at several levels: off, with metrics that are scraped, with the console's history, and with traces at the
default sampling on top of that. Each measurement is a new process that is warmed up first; the levels alternate on
one control plane. \`more\` is the median over the rounds of the difference from the first level. \`--on replay\`:
the same changes, one after the other, through the whole pipeline in one process on the fake API server, which shows
differences of a few microseconds; delivering spans is included. The span collector is another process and discards
everything.
`,
  options: {
    on: choice(['real', 'replay'], 'real', 'where to measure'),
    levels: selection(observabilityLevels, 'real: levels, the first is the baseline', ['off', 'all']),
    services: integer(100, 'real: Services'),
    pods: integer(20, 'real: Pods per Service'),
    rates: integers([20, 100], 'real: flips per second, one rate after the other'),
    seconds: integer(10, 'real: duration at each rate'),
    rounds: text('N', 'rounds per level (real: 5, replay: 10)'),
    scrape: integer(5, 'real: seconds between scrapes'),
    changes: integer(1000, 'replay: changes per round'),
    ratios: shares([0, 0.05, 1], 'replay: sampling ratios of traces'),
  },
  async measure({ on, rounds, services, pods, scrape, changes, ratios, ...levels }) {
    const table =
      on === 'real'
        ? await compareReal({
            ...{ ...levels, shape: { services, pods }, scrapeSeconds: scrape },
            rounds: count('rounds', rounds ?? '5'),
          })
        : await measureReplayed({ rounds: count('rounds', rounds ?? '10'), changes, ratios });
    return { tables: [table], json: table };
  },
});

async function measureReplayed(options: ReplayedOptions) {
  // Imported lazily, because it loads all of Sluice.
  const { compareReplayed } = await import('./src/observability/replayed.ts');
  return await compareReplayed(options);
}
