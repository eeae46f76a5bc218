/**
 * Cuts the watches of two reflectors each second while the server changes, forgets, fails and answers from the past, over
 * real HTTP; compares every delivery with what the server held. `--help` tells the options. Ends with 1 if a change was
 * missed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultPlan, kubeconfigOf } from '@sluice/fake-apiserver';
import { Connection, HttpCluster, loadKubeconfig } from '@sluice/kubernetes';
import { startControlPlane } from '@sluice/local';
import { count, optionsGiven, runProgram, systemClock } from '@sluice/program';
import { seededRandom, silentLogger } from '@sluice/runtime';
import { runWatchCuts, type WatchCuts } from './src/watch-cuts/run.ts';
import { runGenuineCuts } from './src/watch-cuts/run-genuine.ts';

const HELP = `usage: node bench/watch-cuts.ts [options]      (or: npm run bench:watch-cuts -- [options])

  --seconds N      how long watches are cut, one cut a second (300)
  --rate N         changes a second (50)
  --seed N         of what happens (1)
  --genuine        a genuine kube-apiserver behind a network that fails, instead of the simulated one: cuts, swallowed
                   bytes, and a start anew each minute, after which what went before is only in lists
  --json           the figures as JSON
`;

async function main(): Promise<void> {
  const values = optionsGiven({ seconds: '300', rate: '50', seed: '1', genuine: false, json: false }, HELP);
  if (values === undefined) return;
  const [seconds, seed] = [count('seconds', values.seconds), count('seed', values.seed)];
  const options = { seconds, changesPerSecond: count('rate', values.rate), seed };
  const { churned, judged } = await (values.genuine ? cutGenuine(options) : cutSimulated(options));
  if (values.json) process.stdout.write(`${JSON.stringify({ seconds, seed, churned, judged }, null, 2)}\n`);
  else {
    const { changes, deletions, unseenDeletions, watchesCut, compactions } = churned;
    const forgot = values.genuine ? 'the API server was started anew' : 'the log was forgotten';
    process.stdout.write(
      `${seconds} s, seed ${seed}: ${changes} changes, ${deletions} of them deletions; ${watchesCut} watches cut; ${compactions} times\n` +
        `${forgot} while none was open, with ${unseenDeletions} deletions in it\n\n` +
        '| read by | lists | failures | states compared | wrong | went back | missed at the end |\n' +
        '| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n',
    );
    for (const [way, { lists, errors, compared, wrong, wentBack, missing }] of Object.entries(judged)) {
      process.stdout.write(`| ${way} | ${lists} | ${errors} | ${compared} | ${wrong} | ${wentBack} | ${missing} |\n`);
    }
  }
  if (Object.values(judged).some(({ wrong, wentBack, missing }) => wrong + wentBack + missing > 0))
    process.exitCode = 1;
}

interface Options {
  readonly seconds: number;
  readonly changesPerSecond: number;
  readonly seed: number;
}

async function cutSimulated({ seconds, changesPerSecond, seed }: Options): Promise<WatchCuts> {
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

async function cutGenuine({ seconds, changesPerSecond, seed }: Options): Promise<WatchCuts> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-watch-cuts-'));
  const controlPlane = await startControlPlane({
    ...{ directory: join(directory, 'cluster'), name: 'cuts', authorization: 'AlwaysAllow' },
  });
  const ports = { clock: systemClock, random: seededRandom(seed) };
  const cuts = await runGenuineCuts({ controlPlane, directory, seconds, changesPerSecond, ...ports });
  await controlPlane.stop();
  rmSync(directory, { recursive: true, force: true });
  return cuts;
}

await runProgram(main);
