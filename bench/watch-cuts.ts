/**
 * Cuts the watches of two reflectors every second while the server changes, compacts, fails and returns old state, over real
 * HTTP, and compares every delivery with the state of the server. Exit status 1 if a change was missed. See `--help`.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultPlan, kubeconfigOf } from '@sluice/fake-apiserver';
import { Connection, HttpCluster, loadKubeconfig } from '@sluice/kubernetes';
import { startControlPlane } from '@sluice/local';
import { systemClock } from '@sluice/process';
import { count, optionsGiven, runProgram } from '@sluice/program';
import { seededRandom, silentLogger } from '@sluice/runtime';
import { runWatchCuts, type WatchCuts } from './src/watch-cuts/run.ts';
import { runRealWatchCuts } from './src/watch-cuts/run-real.ts';

const HELP = `usage: node bench/watch-cuts.ts [options]      (or: npm run bench:watch-cuts -- [options])

  --seconds N      duration, with one cut per second (300)
  --rate N         changes per second (50)
  --seed N         seed of changes and faults (1)
  --real           a real kube-apiserver behind a network that fails, instead of the fake one: cuts, dropped bytes, and
                   a restart each minute, after which earlier changes are only in lists
  --json           print JSON
`;

async function main(): Promise<void> {
  const values = optionsGiven({ seconds: '300', rate: '50', seed: '1', real: false, json: false }, HELP);
  if (values === undefined) return;
  const [seconds, seed] = [count('seconds', values.seconds), count('seed', values.seed)];
  const options = { seconds, changesPerSecond: count('rate', values.rate), seed };
  const { churned, results } = await (values.real ? cutReal(options) : cutFake(options));
  if (values.json) process.stdout.write(`${JSON.stringify({ seconds, seed, churned, results }, null, 2)}\n`);
  else {
    const { changes, deletions, unseenDeletions, watchesCut, compactions } = churned;
    const compacted = values.real ? 'the API server restarted' : 'the event log was compacted';
    process.stdout.write(
      `${seconds} s, seed ${seed}: ${changes} changes, ${deletions} of them deletions; ${watchesCut} watches cut; ${compactions} times\n` +
        `${compacted} while no watch was open, with ${unseenDeletions} unseen deletions\n\n` +
        '| method | lists | failures | states compared | wrong | went back | missed at the end |\n' +
        '| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n',
    );
    for (const [method, { lists, errors, compared, wrong, wentBack, missing }] of Object.entries(results)) {
      process.stdout.write(
        `| ${method} | ${lists} | ${errors} | ${compared} | ${wrong} | ${wentBack} | ${missing} |\n`,
      );
    }
  }
  if (Object.values(results).some(({ wrong, wentBack, missing }) => wrong + wentBack + missing > 0))
    process.exitCode = 1;
}

interface Options {
  readonly seconds: number;
  readonly changesPerSecond: number;
  readonly seed: number;
}

async function cutFake({ seconds, changesPerSecond, seed }: Options): Promise<WatchCuts> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-watch-cuts-'));
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
  rmSync(directory, { recursive: true, force: true });
  return cuts;
}

async function cutReal({ seconds, changesPerSecond, seed }: Options): Promise<WatchCuts> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-watch-cuts-'));
  const controlPlane = await startControlPlane({
    ...{ directory: join(directory, 'cluster'), name: 'cuts', authorization: 'AlwaysAllow' },
  });
  const ports = { clock: systemClock, random: seededRandom(seed) };
  const cuts = await runRealWatchCuts({ controlPlane, directory, seconds, changesPerSecond, ...ports });
  await controlPlane.stop();
  rmSync(directory, { recursive: true, force: true });
  return cuts;
}

await runProgram(main);
