/** Measures how many writes of kube-controller-manager "sluice observe" attributes to the right cause. See `--help`. */

import { join } from 'node:path';
import { integer, say } from '@sluice/program';
import { measureAttribution } from './src/attribution/measure.ts';
import { runBench } from './src/run-bench.ts';
import { percentile } from './src/statistics.ts';
import { number } from './src/table.ts';
import { withTestbed } from './src/testbed.ts';

const goal = 0.99;

await runBench({
  name: 'attribution',
  about: `Runs kube-controller-manager and "sluice observe" on a real API server. A seeded load changes the readiness of random Pods, each
again only once its last change is written, so the n-th write of a Pod shows its n-th change. Then it compares the history with the load:
a write of a slice is correct if the history names the change of every Pod that it shows; a change is explained in Endpoints if one of
their writes names it. The exit status is 1 below 99 %.
`,
  options: {
    services: integer(100, 'Services'),
    pods: integer(10, 'Pods per Service'),
    rate: integer(10, 'changes per second'),
    minutes: integer(60, 'duration'),
    seed: integer(1, 'seed of the load'),
  },
  async measure({ services, pods, rate, minutes, seed }, directory) {
    const shape = { services, pods };
    const options = { directory: join(directory, 'cluster'), shape, timeoutSeconds: 300, fsync: false, say };
    const compared = await withTestbed(options, (testbed) =>
      measureAttribution(testbed, { shape, rate, minutes, seed }),
    );
    const sum = (of: 'slices' | 'endpoints', what: 'correct' | 'total') =>
      compared.reduce((all, one) => all + one[of][what], 0);
    const share = (of: 'slices' | 'endpoints') => sum(of, 'correct') / sum(of, 'total');
    const latencies = compared.flatMap(({ latenciesMs }) => latenciesMs);
    const rows = [
      ['writes of slices', `${sum('slices', 'total')}`],
      ['with the right causes', `${number(share('slices') * 100)} %`],
      ['changes that Endpoints had to show', `${sum('endpoints', 'total')}`],
      ['explained', `${number(share('endpoints') * 100)} %`],
      [
        'from the change to the slice: p50, p99',
        `${number(percentile(latencies, 0.5))}, ${number(percentile(latencies, 0.99))} ms`,
      ],
    ];
    const title = `${services} × ${pods}, ${rate} changes/s for ${minutes} min, seed ${seed}`;
    const json = { slices: share('slices'), endpoints: share('endpoints'), writes: sum('slices', 'total') };
    const failed = share('slices') < goal || share('endpoints') < goal;
    return { tables: [{ title, head: ['', ''], rows: rows.map((cells) => ({ cells })) }], json, failed };
  },
});
