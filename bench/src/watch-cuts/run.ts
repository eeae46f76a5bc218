import type { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { type ClusterReader, Reflector } from '@sluice/kubernetes';
import { type Clock, type Random, silentLogger, sleep } from '@sluice/platform';
import { addFaults, Churn, type Churned } from './churn.ts';
import { type CheckResult, DeliveryChecker } from './delivery-checker.ts';

export interface WatchCutsOptions {
  /** Must be empty. */
  readonly server: FakeApiServer;
  readonly reader: ClusterReader;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
  readonly seconds: number;
  readonly changesPerSecond: number;
}

export interface WatchCuts {
  readonly churned: Churned;
  /** By how the initial state and those after 410 were read. */
  readonly results: Readonly<
    Record<'pages' | 'WatchList', CheckResult & { readonly missing: number; readonly errors: number }>
  >;
}

/** After the last fault, a reflector that backs off catches up within this time. */
const catchUpMs = 90_000;

/**
 * Two reflectors, one with paged lists and one with WatchList, follow a server that changes continuously. Its watches are
 * cut every second, its event log is compacted, and some responses contain old state.
 */
export async function runWatchCuts(options: WatchCutsOptions): Promise<WatchCuts> {
  const { server, reader, faults, clock, random, seconds, changesPerSecond } = options;
  const stop = new AbortController();
  const follow = (watchList: boolean) => {
    const checker = DeliveryChecker.of(server);
    const ports = { clock, random, logger: silentLogger };
    const reflector = new Reflector({
      cluster: reader,
      resource: 'pods',
      decode: (object) => object,
      sink: checker,
      pageSize: 50,
      watchList,
      ...ports,
    });
    return { checker, reflector };
  };
  const [pages, stream] = [follow(false), follow(true)];
  const churn = new Churn(server, random);
  addFaults(faults);
  const running = [pages, stream].map(({ reflector }) => reflector.run(stop.signal));
  for (let second = 0; second < seconds; second++) {
    for (let n = 0; n < changesPerSecond; n++) {
      churn.change();
      await sleep(clock, 1_000 / changesPerSecond);
    }
    churn.cut();
  }
  faults.clear();
  const caughtUp = () => [pages, stream].every(({ checker }) => checker.missing() === 0);
  for (let waited = 0; waited < catchUpMs && !caughtUp(); waited += 100) await sleep(clock, 100);
  stop.abort();
  await Promise.all(running);
  const outcome = ({ checker, reflector }: typeof pages) => ({
    ...checker.results,
    missing: checker.missing(),
    errors: reflector.status().errors,
  });
  return { churned: churn.done, results: { pages: outcome(pages), WatchList: outcome(stream) } };
}
