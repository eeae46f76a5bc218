import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, type ServerProcess, startControlPlane } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { ApiClient } from './api-client.ts';
import { startSluice } from './controllers.ts';
import { EndpointWatches } from './endpoint-watches.ts';
import { FlipTracker } from './flip-tracker.ts';
import { type HintedPopulation, type HintedShape, kindOf, type NodeCpu, populateHinted } from './hinted-services.ts';
import { generateLoad } from './load.ts';
import { PodPool } from './pod-pool.ts';
import { cpuSeconds } from './process-stats.ts';
import { endOfLog } from './testbed.ts';

export interface TopologyOptions {
  readonly directory: string;
  readonly shape: HintedShape;
  readonly change: keyof typeof changes;
  /** Names and checkouts of the programs to measure. */
  readonly programs: ReadonlyMap<string, string>;
  /** Readiness changes of Pods of Services without hints, per second. */
  readonly rate: number;
  /** Duration of these before the change of the Node, and from it on. */
  readonly seconds: number;
  readonly timeoutSeconds: number;
  readonly say: (line: string) => void;
}

/** From which CPU of one Node to which other one. */
export const changes = {
  /** Other ratios: some Services overload a zone, the hints of the others still fit. */
  ratios: ['initial', 'more'],
  /** The Nodes lacked information, so no Service had hints. All can have them again. */
  return: ['none', 'initial'],
} as const satisfies Readonly<Record<string, readonly [NodeCpu, NodeCpu]>>;

export interface TopologyFigures {
  /** From the answer to the write of the Node until the hints of a Service are written, in milliseconds. */
  readonly writtenMs: readonly number[];
  /** Until the last hinted Service is decided. */
  readonly decidedSeconds: number;
  readonly decisions: number;
  /** Most decisions in one second. */
  readonly busiestSecond: number;
  /** Events of slices of hinted Services. */
  readonly writes: number;
  readonly wrongServices: number;
  /** Latencies of the unrelated changes before the change of the Node, and from it on. */
  readonly flipsBeforeMs: readonly number[];
  readonly flipsMs: readonly number[];
  readonly missedFlips: number;
  /** In the seconds from the change of the Node on. */
  readonly cpu: { readonly sluice: number; readonly apiServer: number };
}

const POLL_MILLISECONDS = 100;
/** No decision for this long: all are made. */
const QUIET_MILLISECONDS = 3_000;

/** Measures one program after the other on the same cluster. */
export async function measureTopology(options: TopologyOptions): Promise<ReadonlyMap<string, TopologyFigures>> {
  const { directory, shape, say } = options;
  const controlPlane = await startControlPlane({
    directory,
    name: 'bench',
    authorization: 'AlwaysAllow',
    fsync: false,
  });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  let watches: EndpointWatches | undefined;
  const figures = new Map<string, TopologyFigures>();
  try {
    const population = await populateHinted(client, shape);
    say(`${shape.overloaded + shape.balanced} Services with hints, ${shape.unrelated} without`);
    // User-managed Endpoints are not watched, and those of the Services are not needed.
    watches = await EndpointWatches.open(client, { services: 0, pods: 0, custom: true });
    const pool = new PodPool(population.unrelatedPods, seededRandom(1));
    for (const [name, root] of options.programs) {
      const [port = 0] = await freePorts(1);
      const flags = ['--metrics-bind-address', `127.0.0.1:${port}`];
      const sluice = await startSluice(controlPlane, { flags }, root);
      const { kubeApiserver } = controlPlane.processes;
      try {
        figures.set(
          name,
          await measureProgram({ options, name, client, watches, population, pool, sluice, kubeApiserver, port }),
        );
      } finally {
        await sluice.stop(15_000);
      }
      await population.setCpu('initial');
      await population.deleteSlices();
    }
    return figures;
  } finally {
    watches?.close();
    client.close();
    await controlPlane.stop();
  }
}

interface Measured {
  readonly options: TopologyOptions;
  readonly name: string;
  readonly client: ApiClient;
  readonly watches: EndpointWatches;
  readonly population: HintedPopulation;
  readonly pool: PodPool;
  readonly sluice: ServerProcess;
  readonly kubeApiserver: ServerProcess | undefined;
  readonly port: number;
}

async function measureProgram(measured: Measured): Promise<TopologyFigures> {
  const { options, name, watches, population, sluice, kubeApiserver } = measured;
  const { shape, seconds, say } = options;
  const hinted = shape.overloaded + shape.balanced;
  const [from, to] = changes[options.change];
  await until(measured, async () => (await hintedDecisions(measured)) >= hinted && isQuiet(watches));
  await population.setCpu(from);
  await until(measured, async () => isQuiet(watches) && (await population.wrongServices(from)).length === 0);
  say(`${name}: complete; measuring`);

  const before = await flip(measured);
  const decisionsBefore = await hintedDecisions(measured);
  const written = new Map<string, number>();
  let writes = 0;
  const cpuBefore = [sluice, kubeApiserver].map((server) => cpuSeconds(server?.pid ?? 0));
  await population.setCpu(to);
  const changedAt = performance.now();
  const onSlice = (service: string, at: number) => {
    if (kindOf(service) === 'unrelated') return;
    writes += 1;
    if (!written.has(service)) written.set(service, at - changedAt);
  };
  const counts: { readonly at: number; readonly decisions: number }[] = [];
  let cpu = cpuBefore;
  const counting = until(measured, async () => {
    const decisions = (await hintedDecisions(measured)) - decisionsBefore;
    const at = performance.now();
    if (decisions !== (counts.at(-1)?.decisions ?? 0)) counts.push({ at: at - changedAt, decisions });
    return decisions >= hinted && at - changedAt - (counts.at(-1)?.at ?? 0) > QUIET_MILLISECONDS;
  });
  const [flips] = await Promise.all([
    flip(measured, onSlice, () => {
      cpu = [sluice, kubeApiserver].map((server) => cpuSeconds(server?.pid ?? 0));
      say(`${name}: ${seconds} s of changes measured`);
    }),
    counting,
  ]);
  const wrong = await population.wrongServices(to);
  if (wrong.length > 0) say(`${name}: wrong hints: ${wrong.slice(0, 5).join(', ')} …`);
  const [sluiceCpu = 0, apiServerCpu = 0] = cpu.map((value, i) => value - (cpuBefore[i] ?? 0));
  say(`${name}: all decided after ${((counts.at(-1)?.at ?? 0) / 1000).toFixed(1)} s`);
  return {
    writtenMs: [...written.values()],
    decidedSeconds: (counts.at(-1)?.at ?? Number.NaN) / 1000,
    decisions: counts.at(-1)?.decisions ?? 0,
    busiestSecond: busiestSecond(counts),
    writes,
    wrongServices: wrong.length,
    flipsBeforeMs: before.latencies,
    flipsMs: flips.latencies,
    missedFlips: before.missing + flips.missing,
    cpu: { sluice: sluiceCpu, apiServer: apiServerCpu },
  };
}

/** Flips Pods of Services without hints. */
async function flip(
  { options, client, watches, pool }: Measured,
  onSlice: (service: string, at: number) => void = () => {},
  onSent: () => void = () => {},
) {
  const { rate, seconds } = options;
  const tracker = new FlipTracker();
  const release = (pod: string, complete: boolean) => {
    if (complete) pool.release(pod);
  };
  watches.listener = ({ service, deleted, pods }, at) => {
    if (deleted) return;
    onSlice(service, at);
    for (const { name, ready } of pods) release(name, tracker.shown(name, ready, at));
  };
  await generateLoad({
    ...{ client, rate, flips: Math.round(rate * seconds) },
    next: () => {
      const taken = pool.take();
      tracker.sent(taken.pod.name, taken.ready);
      return taken;
    },
    onAnswer: ({ pod, ready }, at) => release(pod.name, tracker.acknowledged(pod.name, ready, at)),
  });
  onSent();
  const deadline = performance.now() + options.timeoutSeconds * 1000;
  while (tracker.pending > 0 && performance.now() < deadline) await sleep(POLL_MILLISECONDS);
  return tracker.results();
}

/** Decisions of slices of Services with hints, one per address type. */
async function hintedDecisions({ port, sluice }: Pick<Measured, 'port' | 'sluice'>): Promise<number> {
  let response: Response | undefined;
  // It does not listen yet.
  while (response === undefined && sluice.running) {
    response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
    if (response === undefined) await sleep(POLL_MILLISECONDS);
  }
  if (response === undefined) return 0;
  const name = 'endpoint_slice_controller_endpointslices_changed_per_sync_count';
  const series = (await response.text()).matchAll(new RegExp(`^${name}\\{.*topology="Auto".*\\} (\\S+)$`, 'gm'));
  return [...series].reduce((sum, [, value]) => sum + Number(value), 0);
}

const isQuiet = (watches: EndpointWatches) => performance.now() - watches.lastEventAt > QUIET_MILLISECONDS;

async function until({ options, watches, sluice }: Measured, reached: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + options.timeoutSeconds * 1000;
  while (!(await reached())) {
    watches.check();
    if (!sluice.running) throw new Error(`${sluice.name} exited during the measurement\n${endOfLog(sluice)}`);
    if (performance.now() > deadline)
      throw new Error(`not complete after ${options.timeoutSeconds} s\n${endOfLog(sluice)}`);
    await sleep(POLL_MILLISECONDS);
  }
}

/** Increase within a second, of a number that is read several times per second. */
function busiestSecond(counts: readonly { readonly at: number; readonly decisions: number }[]): number {
  const all = [{ at: 0, decisions: 0 }, ...counts];
  return Math.max(0, ...all.map(({ at, decisions }) => decisions - before(all, at - 1000)));
}

const before = (counts: readonly { readonly at: number; readonly decisions: number }[], at: number): number =>
  counts.findLast((count) => count.at <= Math.max(0, at))?.decisions ?? 0;
