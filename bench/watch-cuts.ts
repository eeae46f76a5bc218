/** Cuts watches and compares every delivery with the state of the server. See `--help`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultPlan, kubeconfigOf } from '@sluice/fake-apiserver';
import { Connection, HttpCluster, loadKubeconfig } from '@sluice/kubernetes';
import { startControlPlane } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { flag, integer } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { number } from './src/table.ts';
import { runWatchCuts, type WatchCuts } from './src/watch-cuts/run.ts';
import { runRealWatchCuts } from './src/watch-cuts/run-real.ts';

interface Options {
  readonly seconds: number;
  readonly changesPerSecond: number;
  readonly seed: number;
  readonly directory: string;
}

async function cutFake({ seconds, changesPerSecond, seed, directory }: Options): Promise<WatchCuts> {
  const faults = new FaultPlan([], seededRandom(seed));
  const server = new FakeApiServer({
    clock: systemClock,
    random: seededRandom(seed + 1),
    bookmarkIntervalMs: 500,
  });
  const http = new ApiServerHttp({ server, clock: systemClock, faults });
  const kubeconfig = join(directory, 'kubeconfig.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen())));
  const access = await loadKubeconfig({ paths: [kubeconfig] });
  const ports = { clock: systemClock, random: seededRandom(seed + 2), logger: silentLogger };
  const connection = new Connection({ access, userAgent: 'sluice-bench', ...ports });
  const reader = new HttpCluster({ connection, ...ports });
  const cuts = await runWatchCuts({ server, reader, faults, seconds, changesPerSecond, ...ports });
  await connection.destroy();
  await http.close();
  return cuts;
}

async function cutReal({ seconds, changesPerSecond, seed, directory }: Options): Promise<WatchCuts> {
  const controlPlane = await startControlPlane({
    ...{ directory: join(directory, 'cluster'), name: 'cuts', authorization: 'AlwaysAllow' },
  });
  const ports = { clock: systemClock, random: seededRandom(seed) };
  const cuts = await runRealWatchCuts({ controlPlane, directory, seconds, changesPerSecond, ...ports });
  await controlPlane.stop();
  return cuts;
}

await runBench({
  name: 'watch-cuts',
  about: `Cuts the watches of two reflectors every second while the server changes, compacts, fails and returns old state, over
real HTTP, and compares every delivery with the state of the server. Exit status 1 if a change was missed.
`,
  options: {
    seconds: integer(300, 'duration, with one cut per second'),
    rate: integer(50, 'changes per second'),
    seed: integer(1, 'seed of changes and faults'),
    real: flag(
      'a real kube-apiserver behind a network that fails, instead of the fake one: cuts, dropped bytes, and\n' +
        'a restart each minute, after which earlier changes are only in lists',
    ),
  },
  async measure({ seconds, rate, seed, real }, directory) {
    const { churned, results } = await (real ? cutReal : cutFake)({ seconds, changesPerSecond: rate, seed, directory });
    const { changes, deletions, unseenDeletions, watchesCut, compactions } = churned;
    const compacted = real ? 'the API server restarted' : 'the event log was compacted';
    return {
      tables: [
        {
          title: `Watches cut for ${seconds} s, seed ${seed}`,
          head: ['method', 'lists', 'failures', 'states compared', 'wrong', 'went back', 'missed at the end'],
          rows: Object.entries(results).map(([method, { lists, errors, compared, wrong, wentBack, missing }]) => ({
            cells: [method, ...[lists, errors, compared, wrong, wentBack, missing].map(number)],
          })),
        },
      ],
      conditions:
        `${changes} changes, ${deletions} of them deletions; ${watchesCut} watches cut; ${compactions} times ${compacted} ` +
        `while no watch was open, with ${unseenDeletions} unseen deletions. `,
      json: { seconds, seed, churned, results },
      failed: Object.values(results).some(({ wrong, wentBack, missing }) => wrong + wentBack + missing > 0),
    };
  },
});
