import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, type ServerProcess, startControlPlane } from '@sluice/local';
import { ApiClient } from './api-client.ts';
import type { Controller, StartOptions } from './controllers.ts';
import { Convergence } from './convergence.ts';
import { FlipTracker } from './flip-tracker.ts';
import { generateLoad, writeStatus } from './load.ts';
import { Meter } from './meter.ts';
import { Observer } from './observer.ts';
import type { Phase } from './phase.ts';
import { PodPool } from './pod-pool.ts';
import { populate } from './populate.ts';
import { seededRandom } from './random.ts';
import type { ColdStart, Latency, RateResult, Run } from './results.ts';
import { benchPods, type Shape } from './shape.ts';
import { percentile } from './statistics.ts';

export interface MeasureOptions extends StartOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly phases: readonly Phase[];
  /** Stops the controller after all that, and starts it again. */
  readonly restart?: boolean;
  /** Longest wait for what was to be seen and is not, in seconds. */
  readonly patienceSeconds: number;
  /** etcd waits for the disk. */
  readonly fsync: boolean;
  readonly say: (line: string) => void;
}

/** After so long without an event everything is written. */
const QUIET_MILLISECONDS = 1000;
/** Endpoints of larger Services are too long for the bench to read each of them while it measures. */
const LONGEST_ENDPOINTS = 200;

interface Scene {
  readonly options: MeasureOptions;
  readonly controlPlane: ControlPlane;
  readonly client: ApiClient;
  readonly observer: Observer;
}

/** Measures one controller once, on a control plane of its own: cold start, then each phase. */
export async function measure(controller: Controller, round: number, options: MeasureOptions): Promise<Run> {
  const { shape, phases, say } = options;
  say(`round ${round}, ${controller.name}: ${shape.services} Services × ${shape.pods} Pods`);
  const { directory, fsync } = options;
  const controlPlane = await startControlPlane({ directory, name: 'bench', authorization: 'AlwaysAllow', fsync });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  let observer: Observer | undefined;
  let peer: ServerProcess | undefined;
  try {
    await populate(client, shape);
    observer = await Observer.open(client, shape);
    const scene = { options, controlPlane, client, observer };
    const started = await measureColdStart(scene, controller);
    peer = started.peer;
    const results: RateResult[] = [];
    let pool = new PodPool(benchPods(shape), seededRandom(0));
    for (const phase of phases) {
      // The Pods are as the last phase left them: one that is not ready must not be made so again.
      pool = new PodPool(benchPods(shape), seededRandom(round * 1000 + phase.rate), pool.notReady);
      results.push(await measurePhase(scene, peer, phase, pool));
    }
    const run = { controller: controller.name, round, coldStart: started.coldStart, rates: results };
    if (!options.restart) return run;
    const again = await measureRestart(scene, controller, peer, pool);
    peer = again.peer;
    return { ...run, restart: again.restart };
  } finally {
    observer?.close();
    // A profile is written only by a process that may end in peace.
    await peer?.stop(15_000);
    client.close();
    await controlPlane.stop();
  }
}

/** From the start of the process to the moment when every Service is complete, in EndpointSlices and Endpoints. */
async function measureColdStart(
  scene: Scene,
  controller: Controller,
): Promise<{ peer: ServerProcess; coldStart: ColdStart }> {
  const { options, controlPlane, client, observer } = scene;
  const convergence = new Convergence(options.shape);
  let peer: ServerProcess | undefined;
  let firstAt: number | undefined;
  let completeAt: number | undefined;
  observer.listener = (sighting, at) => {
    firstAt ??= at;
    convergence.see(sighting);
    if (convergence.complete) completeAt ??= at;
  };
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const startedAt = performance.now();
  peer = await controller.start(controlPlane, options);
  const complete = await settled(scene, peer, () => completeAt !== undefined);
  if (!complete) {
    const some = convergence.missing.slice(0, 5).join(', ');
    const problem = `${convergence.missing.length} Services are not complete (${some} …)`;
    await peer.stop();
    throw new Error(`${controller.name}: after ${options.patienceSeconds} s ${problem}\n${endOfLog(peer)}`);
  }
  const cost = await meter.stop();
  const since = (at: number | undefined) => ((at ?? Number.NaN) - startedAt) / 1000;
  const coldStart = { completeSeconds: since(completeAt), firstWriteSeconds: since(firstAt), cost };
  options.say(`  cold start: complete after ${coldStart.completeSeconds.toFixed(2)} s`);
  return { peer, coldStart };
}

/** From the start of the process, with one flip that nobody has seen yet, to the event that shows it. */
async function measureRestart(
  scene: Scene,
  controller: Controller,
  running: ServerProcess,
  pool: PodPool,
): Promise<{ peer: ServerProcess; restart: ColdStart }> {
  const { options, controlPlane, client, observer } = scene;
  await running.stop(15_000);
  const flip = pool.take();
  await writeStatus(client, flip);
  let firstAt: number | undefined;
  observer.listener = ({ from, gone, pods }, at) => {
    if (gone || from !== 'slice') return;
    if (pods.some(({ name, ready }) => name === flip.pod.name && ready === flip.ready)) firstAt ??= at;
  };
  let peer: ServerProcess | undefined;
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const startedAt = performance.now();
  peer = await controller.start(controlPlane, options);
  if (!(await settled(scene, peer, () => firstAt !== undefined)))
    throw new Error(`${controller.name}: nothing is written`);
  const cost = await meter.stop();
  const seconds = ((firstAt ?? Number.NaN) - startedAt) / 1000;
  options.say(`  restart: the flip is seen after ${seconds.toFixed(2)} s`);
  return { peer, restart: { completeSeconds: seconds, firstWriteSeconds: seconds, cost } };
}

async function measurePhase(scene: Scene, peer: ServerProcess, phase: Phase, pool: PodPool): Promise<RateResult> {
  const { options, controlPlane, client, observer } = scene;
  const { shape } = options;
  const { rate } = phase;
  const inSlices = new FlipTracker();
  const inEndpoints = shape.pods <= LONGEST_ENDPOINTS && !shape.custom ? new FlipTracker() : undefined;
  const next = phase.source(pool);
  const done = (pod: string, complete: boolean) => {
    if (complete) pool.release(pod);
  };
  observer.listener = ({ from, gone, pods }, at) => {
    if (gone) return;
    for (const { name, ready } of pods) {
      if (from === 'slice') done(name, inSlices.shown(name, ready, at));
      else inEndpoints?.shown(name, ready, at);
    }
  };
  const meter = new Meter(client, controlPlane, () => peer);
  await meter.start();
  const load = await generateLoad({
    client,
    rate,
    flips: phase.changes,
    next: () => {
      const flip = next();
      inSlices.began(flip.pod.name, flip.ready);
      inEndpoints?.began(flip.pod.name, flip.ready);
      return flip;
    },
    onAnswer: ({ pod, ready }, at) => {
      done(pod.name, inSlices.answered(pod.name, ready, at));
      inEndpoints?.answered(pod.name, ready, at);
    },
  });
  const loadEndedAt = performance.now();
  await settled(scene, peer, () => inSlices.open === 0 && (inEndpoints?.open ?? 0) === 0);
  const cost = await meter.stop();
  const settleSeconds = Math.max(0, observer.lastEventAt - loadEndedAt) / 1000;
  const { latencies, missing, superseded } = inSlices.results();
  const latency = latencyOf(latencies);
  options.say(
    `  ${phase.name}: p50 ${latency.p50.toFixed(1)} ms, p99 ${latency.p99.toFixed(1)} ms, missing ${missing}`,
  );
  return {
    rate,
    phase: phase.name,
    flips: load.flips,
    latencyMs: latency,
    endpointsLatencyMs: inEndpoints === undefined ? undefined : latencyOf(inEndpoints.results().latencies),
    missing,
    superseded,
    settleSeconds,
    load,
    cost,
  };
}

function latencyOf(latencies: readonly number[]): Latency {
  const at = (share: number) => percentile(latencies, share);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** Waits until it is so and no event comes any more. Returns false when it is not so in time. */
async function settled({ options, observer }: Scene, peer: ServerProcess, reached: () => boolean): Promise<boolean> {
  const deadline = performance.now() + options.patienceSeconds * 1000;
  const start = performance.now();
  const quiet = () => performance.now() - Math.max(start, observer.lastEventAt) > QUIET_MILLISECONDS;
  while (performance.now() < deadline && !(reached() && quiet())) {
    await sleep(20);
    observer.check();
    if (!peer.running) throw new Error(`${peer.name} ended while it was measured\n${endOfLog(peer)}`);
  }
  return reached();
}

/** The last words of a server; stack traces may be long. */
function endOfLog({ command }: ServerProcess): string {
  const lines = readFileSync(command.log, 'utf8').trimEnd().split('\n').slice(-8);
  return `  ${lines.map((line) => line.slice(0, 400)).join('\n  ')}\nwhole log: ${command.log}`;
}
