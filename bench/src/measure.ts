import type { ServerProcess } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import type { Controller, StartOptions } from './controllers.ts';
import { Convergence } from './convergence.ts';
import { EndpointsFlips } from './endpoints-flips.ts';
import { type FlipResults, FlipTracker } from './flip-tracker.ts';
import { histogramOf } from './histogram.ts';
import { generateLoad, writeStatus } from './load.ts';
import { Meter } from './meter.ts';
import type { Phase } from './phase.ts';
import { PodPool } from './pod-pool.ts';
import type { Arrival, ColdStart, RateResult, Run } from './results.ts';
import { benchPods } from './shape.ts';
import { percentile } from './statistics.ts';
import { converged, endOfLog, type Testbed, type TestbedOptions, withTestbed } from './testbed.ts';

export interface MeasureOptions extends TestbedOptions, StartOptions {
  readonly phases: readonly Phase[];
  /** Restarts the controller at the end. */
  readonly restart?: boolean;
  /** Called with the controller after the last phase. */
  readonly inspect?: (controller: ServerProcess) => Promise<void>;
}

/** Measures one controller on its own control plane: cold start, then each phase. */
export async function measure(controller: Controller, round: number, options: MeasureOptions): Promise<Run> {
  const { shape, phases, say } = options;
  say(`round ${round}, ${controller.name}: ${shape.services} Services × ${shape.pods} Pods`);
  return await withTestbed(options, async (testbed) => {
    let peer: ServerProcess | undefined;
    const prepare = async () => {
      peer = await controller.prepare?.(testbed.controlPlane, options);
      const prepared = peer;
      return { prepared, start: () => controller.start(testbed.controlPlane, options, prepared) };
    };
    try {
      const started = await measureColdStart(testbed, controller.name, await prepare());
      peer = started.peer;
      const results: RateResult[] = [];
      let pool = new PodPool(benchPods(shape), seededRandom(0));
      for (const phase of phases) {
        // Keep the Pods as the last phase left them: one that is not ready must stay so.
        pool = new PodPool(benchPods(shape), seededRandom(round * 1000 + phase.rate), pool.notReady);
        const result = await measurePhase(testbed, peer, phase, pool);
        if (!phase.isWarmUp) results.push(result);
      }
      await options.inspect?.(peer);
      const run = { controller: controller.name, round, coldStart: started.coldStart, rates: results };
      if (!options.restart) return run;
      await peer.stop(15_000);
      const again = await measureRestart(testbed, await prepare(), pool);
      peer = again.peer;
      return { ...run, restart: again.restart };
    } finally {
      // Only a process that shuts down cleanly writes a profile.
      await peer?.stop(15_000);
    }
  });
}

/** How a controller starts. */
export interface Start {
  /** The process if it runs already, with the servers of a fleet. */
  readonly prepared?: ServerProcess | undefined;
  readonly start: () => Promise<ServerProcess>;
}

/** From the process start until every Service is complete in EndpointSlices and Endpoints. */
export async function measureColdStart(
  testbed: Testbed,
  name: string,
  { prepared, start }: Start,
): Promise<{ peer: ServerProcess; coldStart: ColdStart }> {
  const { options, controlPlane, client, watches } = testbed;
  const convergence = new Convergence(options.shape);
  let peer = prepared;
  let firstAt: number | undefined;
  let completeAt: number | undefined;
  watches.listener = (event, at) => {
    firstAt ??= at;
    convergence.observe(event);
    if (convergence.complete) completeAt ??= at;
  };
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const startedAt = performance.now();
  peer = await start();
  const complete = await converged(testbed, peer, () => completeAt !== undefined);
  if (!complete) {
    const some = convergence.missing.slice(0, 5).join(', ');
    const problem = `${convergence.missing.length} Services are incomplete (${some} …)`;
    await peer.stop();
    throw new Error(`${name}: after ${options.timeoutSeconds} s ${problem}\n${endOfLog(peer)}`);
  }
  const cost = await meter.stop();
  const since = (at: number | undefined) => ((at ?? Number.NaN) - startedAt) / 1000;
  const coldStart = { completeSeconds: since(completeAt), firstWriteSeconds: since(firstAt), cost };
  options.say(`  cold start: complete after ${coldStart.completeSeconds.toFixed(2)} s`);
  return { peer, coldStart };
}

/** From the process start, with one flip that no controller has seen, to the event that shows it. No controller runs before. */
export async function measureRestart(
  testbed: Testbed,
  { prepared, start }: Start,
  pool: PodPool,
): Promise<{ peer: ServerProcess; restart: ColdStart }> {
  const { options, controlPlane, client, watches } = testbed;
  const flip = pool.take();
  await writeStatus(client, flip);
  let firstAt: number | undefined;
  watches.listener = ({ from, deleted, pods }, at) => {
    if (deleted || from !== 'slice') return;
    if (pods.some(({ name, ready }) => name === flip.pod.name && ready === flip.ready)) firstAt ??= at;
  };
  let peer = prepared;
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const startedAt = performance.now();
  peer = await start();
  if (!(await converged(testbed, peer, () => firstAt !== undefined))) {
    await peer.stop();
    throw new Error(`${peer.name}: no write within the time limit\n${endOfLog(peer)}`);
  }
  const cost = await meter.stop();
  const seconds = ((firstAt ?? Number.NaN) - startedAt) / 1000;
  options.say(`  restart: flip visible after ${seconds.toFixed(2)} s`);
  return { peer, restart: { completeSeconds: seconds, firstWriteSeconds: seconds, cost } };
}

/** Runs a phase on a complete cluster and measures its latencies and cost. */
export async function measurePhase(
  testbed: Testbed,
  peer: ServerProcess,
  phase: Phase,
  pool: PodPool,
): Promise<RateResult> {
  const { options, controlPlane, client, watches } = testbed;
  const { shape } = options;
  const { rate } = phase;
  const inSlices = new FlipTracker();
  const inEndpoints = shape.custom ? undefined : new EndpointsFlips(shape);
  const next = phase.source(pool);
  const done = (pod: string, complete: boolean) => {
    if (complete) pool.release(pod);
  };
  watches.listener = ({ deleted, pods }, at) => {
    if (deleted) return;
    for (const { name, ready } of pods) done(name, inSlices.shown(name, ready, at));
  };
  watches.endpointsListener = (line, at) => inEndpoints?.version(line, at);
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const load = await generateLoad({
    client,
    rate,
    flips: phase.changes,
    next: () => {
      const flip = next();
      inSlices.sent(flip.pod.name, flip.ready);
      inEndpoints?.sent(flip.pod.name, flip.ready);
      return flip;
    },
    onAnswer: ({ pod, ready }, at) => {
      done(pod.name, inSlices.acknowledged(pod.name, ready, at));
      inEndpoints?.answered(pod.name, ready, at);
    },
    onFailure: ({ pod }) => {
      inSlices.withdraw(pod.name);
      inEndpoints?.failed(pod.name);
    },
  });
  const loadEndedAt = performance.now();
  await converged(testbed, peer, async () => {
    if (inSlices.pending > 0) return false;
    await inEndpoints?.settle();
    return (inEndpoints?.pending ?? 0) === 0;
  });
  const cost = await meter.stop();
  await inEndpoints?.settle();
  watches.endpointsListener = undefined;
  const convergenceSeconds = Math.max(0, watches.lastEventAt - loadEndedAt) / 1000;
  const slices = inSlices.results();
  const endpoints = inEndpoints?.results();
  options.say(
    `  ${phase.name}: p50 ${percentile(slices.latencies, 0.5).toFixed(1)} ms, ` +
      `of Endpoints ${percentile(endpoints?.latencies ?? [], 0.5).toFixed(1)} ms, ` +
      `missing ${slices.missing + (endpoints?.missing ?? 0)}`,
  );
  return {
    ...{ rate, phase: phase.name, flips: load.flips, slices: arrivalOf(slices) },
    ...(endpoints !== undefined && { endpoints: arrivalOf(endpoints) }),
    ...{ convergenceSeconds, load, cost },
  };
}

function arrivalOf({ latencies, missing, cancelled }: FlipResults): Arrival {
  return { histogram: histogramOf(latencies), max: percentile(latencies, 1), missing, cancelled };
}
