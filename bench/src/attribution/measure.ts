import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConsoleClient } from '@sluice/console/client';
import { freePorts, ServerProcess, startKubeControllerManager } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { say } from '@sluice/program';
import { RAISED } from '../controllers.ts';
import { generateLoad } from '../load.ts';
import { PodPool } from '../pod-pool.ts';
import { benchPods, isBenchNamespace, type Shape } from '../shape.ts';
import { converged, type Testbed } from '../testbed.ts';
import { type Comparison, compare, type SentFlip } from './compare.ts';

interface AttributionOptions {
  readonly shape: Shape;
  readonly rate: number;
  readonly minutes: number;
  readonly seed: number;
}

const program = join(import.meta.dirname, '../../../bin/sluice');
/** How long a Pod stays as it is: longer than any write takes. */
const restMs = 10_000;

/** Compares what an observer says of the writes of kube-controller-manager with the load that caused them, by Service. */
export async function measureAttribution(
  testbed: Testbed,
  { shape, rate, minutes, seed }: AttributionOptions,
): Promise<readonly Comparison[]> {
  const { controlPlane, client, options } = testbed;
  const peer = await startKubeControllerManager(controlPlane, { args: RAISED });
  const [port = 0] = await freePorts(1);
  const recording = join(options.directory, 'recording');
  mkdirSync(recording);
  const observer = new ServerProcess({
    ...{ name: 'observe', program, log: join(options.directory, 'observe.log') },
    args: [
      ...['observe', '--kubeconfig', controlPlane.adminKubeconfig, '--recording-dir', recording],
      ...['--metrics-bind-address', `127.0.0.1:${port}`],
    ],
  });
  await observer.start();
  try {
    const console = new ConsoleClient({ url: `http://127.0.0.1:${port}` });
    const readyServices = async () => {
      const { items } = await console.services({ limit: 1_000 }).catch(() => ({ items: [] }));
      return items.filter((one) => isBenchNamespace(one.namespace) && one.ready === shape.pods).length;
    };
    if (!(await converged(testbed, peer, async () => (await readyServices()) === shape.services)))
      throw new Error('the observer did not see all Services');
    const since = systemClock.now();
    const sent: SentFlip[] = [];
    const pool = new PodPool(benchPods(shape), seededRandom(seed));
    const flips = rate * 60 * minutes;
    const report = await generateLoad({
      ...{ client, rate, flips },
      next: () => {
        const flip = pool.take();
        sent.push({ service: flip.pod.service, pod: flip.pod.name, ready: flip.ready });
        setTimeout(() => pool.release(flip.pod.name), restMs).unref();
        if (sent.length % (rate * 60) === 0) say(`${sent.length} of ${flips} flips`);
        return flip;
      },
      onAnswer: () => {},
    });
    if (report.failed > 0) throw new Error(`${report.failed} flips failed`);
    await sleep(restMs);
    const byService = Map.groupBy(sent, ({ service }) => service);
    const comparisons: Comparison[] = [];
    const { items } = await console.services({ limit: 1_000 });
    for (const { cluster, namespace, name: service } of items.filter((one) => isBenchNamespace(one.namespace))) {
      const query = { since: Math.floor(since), limit: 5_000 };
      const { entries, total } = await console.history({ cluster, namespace, service }, query);
      if (total > entries.length)
        throw new Error(`${service} has ${total} entries, more than one answer; run for less long`);
      comparisons.push(compare(entries, byService.get(service) ?? []));
    }
    return comparisons;
  } finally {
    await observer.stop();
    await peer.stop();
  }
}
