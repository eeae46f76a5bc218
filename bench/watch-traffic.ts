/** Measures what watchers of EndpointSlices receive, with compaction and with adaptive batching. See `--help`. */

import { advance } from '@sluice/platform/testing';
import { integer, integers } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { WatchTraffic } from './src/watch-traffic.ts';

const minute = 60_000;
const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;

/** The value below which this share of the sorted values is. */
const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function compactionRow(services: number, pods: number, seed: number): Promise<readonly string[]> {
  const traffic = new WatchTraffic({ services, pods, seed, compactionWritesPerHour: 1_000_000 });
  await advance(traffic.clock, 20_000);
  await traffic.scaleDown(0.7);
  const before = { slices: traffic.slices, list: traffic.listBytes };
  traffic.reset();
  await advance(traffic.clock, 30 * minute);
  await traffic.stop();
  const writes = [String(traffic.events), kilobytes(traffic.bytes)];
  return [
    `${services} × ${pods}`,
    `${before.slices}`,
    `${traffic.slices}`,
    kilobytes(before.list),
    kilobytes(traffic.listBytes),
    ...writes,
  ];
}

async function batchingRow(
  pods: number,
  rate: number,
  freshnessTargetMs: number,
  seconds: number,
  watchers: number,
  seed: number,
) {
  const batching = freshnessTargetMs > 0 ? { freshnessTargetMs, watchers } : null;
  const traffic = new WatchTraffic({ services: 1, pods, seed, settings: { batching } });
  await advance(traffic.clock, 20_000);
  traffic.reset();
  await traffic.flip(rate, seconds);
  await traffic.stop();
  const sorted = [...traffic.latencies].sort((a, b) => a - b);
  const perSecond = (count: number) => Math.round(count / seconds);
  return [
    ...[`1 × ${pods.toLocaleString('en')}`, String(rate), freshnessTargetMs === 0 ? 'off' : `${freshnessTargetMs} ms`],
    ...[String(perSecond(traffic.events)), kilobytes(perSecond(traffic.bytes))],
    ...[quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => String(Math.round(ms))),
  ];
}

await runBench({
  name: 'watch-traffic',
  about: `Measures what a watcher of EndpointSlices receives, on a fake API server that answers after 5 ms, on a virtual clock. So
the results do not depend on the machine. Compaction: 70 % of all Pods are deleted at random, then slices are merged in the
background. Batching: Pods of one Service change their readiness at even intervals, without and with a freshness target.
`,
  options: {
    pods: integers([100, 5000], 'Pods of the Service for batching'),
    rates: integers([20, 100, 500], 'changes of readiness per second'),
    seconds: integer(20, 'duration of each'),
    watchers: integer(1000, 'watchers of EndpointSlices'),
    seed: integer(1, 'seed of the changes'),
  },
  measure: async ({ pods, rates, seconds, watchers, seed }) => {
    const compaction: (readonly string[])[] = [];
    for (const [services, each] of [
      [1, 5_000],
      [20, 250],
    ] as const)
      compaction.push(await compactionRow(services, each, seed));
    const batching: (readonly string[])[] = [];
    for (const count of pods)
      for (const rate of rates)
        for (const target of [0, 500, 1_000])
          batching.push(await batchingRow(count, rate, target, seconds, watchers, seed));
    const compactionHead = ['Services × Pods', 'slices', 'after', 'list', 'after', 'writes', 'bytes per watcher'];
    const batchingHead = [
      'Pods',
      'changes/s',
      'target',
      'writes/s',
      'per watcher and s',
      'p50, ms',
      'p99, ms',
      'max, ms',
    ];
    const rowsOf = (rows: readonly (readonly string[])[]) => rows.map((cells) => ({ cells }));
    return {
      tables: [
        { title: 'Compaction after a scale-down by 70 %', head: compactionHead, rows: rowsOf(compaction) },
        { title: 'Adaptive batching', head: batchingHead, rows: rowsOf(batching) },
      ],
      conditions: `Virtual time; ${watchers} watchers, ${seconds} s each, seed ${seed}. `,
      json: { compaction, batching, compactionHead, batchingHead },
    };
  },
});
