/** Simulates users, controllers, scheduler and kubelets on real API servers: one cluster for each context of a kubeconfig. */
import { parseArgs } from 'node:util';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { Connection, listContexts, loadKubeconfig } from '@sluice/kubernetes';
import { errorMessage, seededRandom } from '@sluice/platform';
import {
  createLogger,
  exitSoon,
  exitStatus,
  print,
  printable,
  stopSignal,
  systemClock,
  UsageError,
  userAgent,
} from '@sluice/platform/process';
import { ClusterSimulator } from '../simulator/cluster-simulator.ts';
import { outdatedObjects } from '../simulator/outdated-objects.ts';
import { sampleObjects } from '../simulator/sample-objects.ts';
import { ClusterMirror } from './cluster-mirror.ts';

const usage = 'usage: node demo/src/workload/main.ts --kubeconfig FILE [--rate CHANGES_PER_SECOND] [--seed N]';

const clock = systemClock;
const logger = createLogger('text', 'info');
const stop = stopSignal(undefined, logger);
const stopping = new AbortController();
void stop.stopped.then(() => stopping.abort());

interface Options {
  readonly kubeconfig: string;
  readonly rate: number;
  readonly seed: number;
}

/** @throws TypeError for unknown arguments, UsageError for wrong values */
function optionsOf(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], options: { kubeconfig: text, rate: text, seed: text } });
  const { kubeconfig = '' } = values;
  const [rate, seed] = [Number(values.rate ?? 2), Number(values.seed ?? 1)];
  if (kubeconfig === '' || !(rate >= 0) || !Number.isInteger(seed)) throw new UsageError(usage);
  return { kubeconfig, rate, seed };
}

async function runWorkload({ kubeconfig, rate, seed }: Options, context: string, index: number): Promise<void> {
  const access = await loadKubeconfig({ paths: [kubeconfig], context });
  const named = logger.with({ cluster: context });
  const client = new Connection({ access, userAgent: userAgent(), clock, logger: named });
  // Each cluster uses two seeds.
  const [first, second] = [seed + 2 * index, seed + 2 * index + 1];
  const model = new FakeApiServer({ clock, random: seededRandom(first) });
  const mirror = new ClusterMirror({ model, client, clock, logger: named });
  const objects = index === 1 ? outdatedObjects : sampleObjects;
  const simulator = new ClusterSimulator({ api: mirror, clock, random: seededRandom(second), rate, objects });
  simulator.start();
  named.info('simulating cluster', { server: client.server, rate });
  await mirror.run(stopping.signal);
  simulator.stop();
  await client.close();
}

try {
  const options = optionsOf(process.argv.slice(2));
  const contexts = await listContexts([options.kubeconfig]);
  await Promise.all(contexts.map((context, index) => runWorkload(options, context, index)));
} catch (error) {
  print(process.stderr, `error: ${printable(errorMessage(error))}\n`);
  process.exitCode = exitStatus.usage;
} finally {
  stop.cancel();
  exitSoon(logger);
}
