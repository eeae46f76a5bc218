import type { NodeFailures } from './node-failures.ts';
import type { Nodes } from './nodes.ts';
import type { Pods } from './pods.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Workload } from './workload.ts';

/** Services of the story, as `namespace/name`. Background activity leaves them alone. */
export const storyServices = { rollout: 'shop/cart', probe: 'shop/checkout' } as const;

/** The parts of the cluster that the story changes. */
export interface StoryTargets {
  readonly nodes: Nodes;
  readonly nodeFailures: NodeFailures;
  readonly pods: Pods;
  /** The workload behind a Service, named as `namespace/name`. */
  readonly workload: (service: string) => Workload | undefined;
  readonly converged: () => boolean;
}

interface Scene {
  /** For people: what happens now. */
  readonly happening: string;
  /** Minimum and maximum time, in milliseconds. */
  readonly lasts: readonly [number, number];
  /** What it waits for after that time; not forever, because users may change the cluster. */
  readonly until?: () => boolean;
}

const checkIntervalMs = 500;
const maxChecks = 60;

/** Runs a rollout, a failing readiness probe and the loss of a Node, again and again. */
export class Story {
  readonly #context: SimulationContext;
  readonly #scenes: Iterator<Scene>;
  #running = false;
  #happening = '';

  constructor(context: SimulationContext, targets: StoryTargets) {
    this.#context = context;
    this.#scenes = scenes(targets);
  }

  get happening(): string {
    return this.#happening;
  }

  start(): void {
    this.#running = true;
    this.#next();
  }

  stop(): void {
    this.#running = false;
  }

  #next(): void {
    if (!this.#running) return;
    const { value, done } = this.#scenes.next();
    if (done) return;
    this.#happening = value.happening;
    this.#context.schedule(...value.lasts, () => this.#wait(value.until ?? (() => true), maxChecks));
  }

  #wait(until: () => boolean, checks: number): void {
    if (checks === 0 || until()) return this.#next();
    this.#context.schedule(checkIntervalMs, checkIntervalMs, () => this.#wait(until, checks - 1));
  }
}

function* scenes(targets: StoryTargets): Generator<Scene> {
  for (;;) {
    yield { happening: 'All is quiet', lasts: [6_000, 8_000], until: targets.converged };
    yield* rollout(targets);
    yield* failingProbe(targets);
    yield* lostNode(targets);
  }
}

function* rollout({ workload }: StoryTargets): Generator<Scene> {
  const service = storyServices.rollout;
  const rolledOut = workload(service);
  if (rolledOut === undefined) return;
  rolledOut.rollOut();
  const [happening, until] = [`Deployment ${service} rolls out a new version`, () => rolledOut.converged];
  yield { happening, lasts: [4_000, 5_000], until };
  yield { happening: `Deployment ${service} has rolled out`, lasts: [6_000, 8_000] };
}

function* failingProbe({ workload, pods }: StoryTargets): Generator<Scene> {
  const spec = workload(storyServices.probe)?.spec;
  const pod = spec && pods.of(spec).find(({ ready, terminating }) => ready && !terminating);
  if (pod === undefined) return;
  const name = `Pod ${pod.namespace}/${pod.name}`;
  pods.setReady(pod, false, 'failed its readiness probe and is not ready');
  yield { happening: `${name} fails its readiness probe`, lasts: [12_000, 15_000] };
  if (pod.node?.ready) pods.setReady(pod, true, 'is ready again');
  yield { happening: `${name} is ready again`, lasts: [6_000, 8_000] };
}

function* lostNode({ nodes, nodeFailures, converged }: StoryTargets): Generator<Scene> {
  const node = nodeFailures.pick();
  if (node === undefined) return;
  const { name, zone } = node;
  const count = nodeFailures.fail(node);
  yield { happening: `Node ${name} does not respond; its ${count} Pods are not ready`, lasts: [8_000, 10_000] };
  nodeFailures.evictPods(node);
  yield { happening: `The Pods of Node ${name} are replaced on other Nodes`, lasts: [12_000, 15_000] };
  nodeFailures.remove(node);
  yield { happening: `Node ${name} is removed, and its Pods leave the slices`, lasts: [7_000, 9_000] };
  const joined = nodes.join(zone);
  yield { happening: `Node ${joined.name} takes its place`, lasts: [6_000, 8_000], until: converged };
}
