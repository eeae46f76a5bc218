import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries, type ServerProcess } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { say } from '@sluice/program';
import { rotate } from '../conditions.ts';
import { CONTROLLERS, type Controller } from '../controllers.ts';
import { percentileIn } from '../histogram.ts';
import { measureColdStart, measurePhase, measureRestart } from '../measure.ts';
import { flips } from '../phase.ts';
import { PodPool } from '../pod-pool.ts';
import type { RateResult } from '../results.ts';
import { benchPods } from '../shape.ts';
import { median } from '../statistics.ts';
import { type Testbed, withTestbed } from '../testbed.ts';
import type { Figures } from './limits.ts';

const shape = { services: 20, pods: 20 };
/** A new process compiles code during the first changes. */
const warmUp = { ...flips(100, 3), name: 'warm-up' };
/** Slow enough to leave two processors idle time; otherwise latency depends on queueing. */
const load = flips(30, 5);
const rounds = 5;

const figures: Readonly<Record<string, (result: RateResult) => number>> = {
  'CPU per flip': ({ cost, flips: count }) => cost.cpuSeconds.controller / count,
  'p50 of EndpointSlices': ({ slices }) => percentileIn(slices.histogram, 0.5),
  'p50 of Endpoints': ({ endpoints }) => percentileIn(endpoints?.histogram ?? [], 0.5),
  memory: ({ cost }) => cost.peakMemoryMb,
};
export const comparisonNames = Object.keys(figures);

export interface Comparison {
  /** Of Sluice divided by kube-controller-manager: medians of the ratios of each round. */
  readonly ratios: Figures;
  /** Flips that Sluice never showed, in any round. */
  readonly missing: number;
}

/** Sluice and kube-controller-manager with raised limits in turn on one API server, both warm. */
export async function compareWithPeer(): Promise<Comparison> {
  await ensureBinaries(say);
  const [sluice, peer] = ['sluice', 'kcm-raised'].map((name) => CONTROLLERS.find((one) => one.name === name));
  if (sluice === undefined || peer === undefined) throw new Error('there is nothing to compare');
  const directory = mkdtempSync(join(tmpdir(), 'sluice-guard-'));
  const options = { directory: join(directory, 'cluster'), shape, timeoutSeconds: 120, fsync: false, say };
  const ratios = new Map(comparisonNames.map((name) => [name, [] as number[]]));
  let missing = 0;
  await withTestbed(options, async (testbed) => {
    const start = () => sluice.start(testbed.controlPlane, {});
    const first = await measureColdStart(testbed, 'sluice', { start });
    await first.peer.stop();
    let notReady: ReadonlySet<string> = new Set();
    for (let round = 1; round <= rounds; round += 1) {
      const results = new Map<Controller, RateResult>();
      for (const controller of rotate([sluice, peer], round)) {
        say(`round ${round}, ${controller.name}`);
        const measured = await measureWarm(testbed, controller, notReady);
        notReady = measured.notReady;
        results.set(controller, measured.result);
        if (controller === sluice) missing += measured.missing;
      }
      const [mine, theirs] = [results.get(sluice), results.get(peer)];
      if (mine === undefined || theirs === undefined) continue;
      for (const [name, of] of Object.entries(figures)) ratios.get(name)?.push(of(mine) / of(theirs));
    }
  });
  rmSync(directory, { recursive: true, force: true });
  return { ratios: Object.fromEntries([...ratios].map(([name, all]) => [name, median(all)])), missing };
}

/** One process, from start to exit. */
async function measureWarm(
  testbed: Testbed,
  controller: Controller,
  notReady: ReadonlySet<string>,
): Promise<{ readonly result: RateResult; readonly missing: number; readonly notReady: ReadonlySet<string> }> {
  // Both write the same objects, one after the other.
  const start = () => controller.start(testbed.controlPlane, { flags: ['--take-over'] });
  let peer: ServerProcess | undefined;
  try {
    const restarted = new PodPool(benchPods(shape), seededRandom(1), notReady);
    peer = (await measureRestart(testbed, { start }, restarted)).peer;
    // A pool of its own, since nothing releases the Pod of the restart.
    const pool = new PodPool(benchPods(shape), seededRandom(2), restarted.notReady);
    const warm = await measurePhase(testbed, peer, warmUp, pool);
    const result = await measurePhase(testbed, peer, load, pool);
    const missing = [warm, result].reduce(
      (sum, { slices, endpoints }) => sum + slices.missing + (endpoints?.missing ?? 0),
      0,
    );
    return { result, missing, notReady: pool.notReady };
  } finally {
    await peer?.stop(15_000);
  }
}
