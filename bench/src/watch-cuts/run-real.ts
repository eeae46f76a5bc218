import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FaultyNetwork } from '@sluice/fake-apiserver';
import { Connection, HttpCluster, loadKubeconfig, Reflector } from '@sluice/kubernetes';
import type { ControlPlane } from '@sluice/local';
import { type Clock, type Random, randomInteger, silentLogger, sleep } from '@sluice/platform';
import type { Churned } from './churn.ts';
import { DeliveryChecker } from './delivery-checker.ts';
import { RealChurn } from './real-churn.ts';
import { Recorder } from './recorder.ts';
import type { WatchCuts } from './run.ts';

export interface RealWatchCutsOptions {
  readonly controlPlane: ControlPlane;
  /** Folder for a kubeconfig. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly seconds: number;
  readonly changesPerSecond: number;
}

/** A watch without events for this long is dead, because changes are continuous. */
const watchIdleMs = 3_000;
/** How often the network drops bytes instead of cutting connections, and for how long. */
const swallowEvery = 10;
const swallowMs = 5_000;
/** Share of the cuts that restart the API server. */
const restartEvery = 60;
/** Maximum wait for a reflector that backs off. */
const catchUpMs = 90_000;

/**
 * Two reflectors, one with paged lists and one with WatchList, follow Pods of a real API server. The network is cut every
 * second, sometimes drops bytes silently, and is down while the API server restarts: its watch cache then has no history,
 * so only a list shows the changes.
 */
export async function runRealWatchCuts(options: RealWatchCutsOptions): Promise<WatchCuts> {
  const { controlPlane, clock, random, seconds, changesPerSecond } = options;
  const ports = { clock, random, logger: silentLogger };
  const network = new FaultyNetwork(controlPlane.url);
  const access = await loadKubeconfig({ paths: [await throughNetwork(options, await network.listen())] });
  const stop = new AbortController();
  const follow = (watchList: boolean) => {
    const connection = new Connection({ access, userAgent: 'sluice-bench', ...ports });
    const recorder = new Recorder();
    const reflector = new Reflector({
      cluster: new HttpCluster({ connection, ...ports, watchIdleMs }),
      ...{ resource: 'pods', decode: (object) => object, sink: recorder, pageSize: 50, watchList, ...ports },
    });
    return { connection, recorder, reflector };
  };
  const [pages, stream] = [follow(false), follow(true)];
  const churn = await RealChurn.open(controlPlane, random, clock);
  const running = [pages, stream].map(({ reflector }) => reflector.run(stop.signal));
  const counts = { watchesCut: 0, compactions: 0, unseenDeletions: 0 };
  for (let second = 1; second <= seconds; second++) {
    await churn.during(1_000, changesPerSecond);
    if (second % restartEvery === 0) {
      counts.unseenDeletions += await restart(controlPlane, network, churn, random);
      counts.compactions++;
    } else if (second % swallowEvery === 0) {
      counts.watchesCut += network.connections;
      network.swallow();
      await churn.during(swallowMs, changesPerSecond);
      network.heal();
    } else counts.watchesCut += network.cut();
  }
  const checker = (recorder: Recorder) => {
    const checker = new DeliveryChecker();
    for (const change of churn.history) checker.record(change);
    recorder.replay(checker);
    return { results: checker.results, missing: checker.missing() };
  };
  const followed = [pages.recorder, stream.recorder];
  for (let waited = 0; waited < catchUpMs && followed.some((one) => checker(one).missing > 0); waited += 1_000) {
    await sleep(clock, 1_000);
  }
  stop.abort();
  await Promise.all(running);
  for (const { connection } of [pages, stream]) await connection.destroy();
  await network.refuse();
  await churn.close();
  const outcome = ({ recorder, reflector }: typeof pages) => {
    const { results, missing } = checker(recorder);
    return { ...results, missing, errors: reflector.status().errors };
  };
  const churned: Churned = { ...counts, changes: churn.history.length, deletions: churn.deletions };
  return { churned, results: { pages: outcome(pages), WatchList: outcome(stream) } };
}

/** Returns the number of Pods deleted unseen. */
async function restart(
  { processes, ready }: ControlPlane,
  network: FaultyNetwork,
  churn: RealChurn,
  random: Random,
): Promise<number> {
  await network.refuse();
  const before = churn.deletions;
  for (let n = randomInteger(random, 10, 30); n > 0; n--) await churn.change();
  await processes.kubeApiserver.kill();
  await processes.kubeApiserver.start();
  await ready();
  await network.listen();
  return churn.deletions - before;
}

async function throughNetwork({ controlPlane, directory }: RealWatchCutsOptions, address: string): Promise<string> {
  const file = join(directory, 'through-network.kubeconfig');
  const text = readFileSync(controlPlane.adminKubeconfig, 'utf8').replaceAll(controlPlane.url, `https://${address}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
