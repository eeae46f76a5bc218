import type { CustomEndpoints } from './custom-endpoints.ts';
import { Deployment } from './deployment.ts';
import type { NodeFailures } from './node-failures.ts';
import type { Pods, SimulatedPod } from './pods.ts';
import { preview, type WorkloadSpec } from './sample-objects.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Workload } from './workload.ts';

/** Maximum pause after a scenario of many activities, in seconds. */
const maxPauseSeconds = 3;

/** The parts of the cluster that scenarios change. */
export interface ActivityTargets {
  readonly nodeFailures: NodeFailures;
  readonly pods: Pods;
  readonly endpoints: CustomEndpoints;
  readonly workloads: () => readonly Workload[];
  readonly addWorkload: (spec: WorkloadSpec) => Workload;
  readonly removeWorkload: (workload: Workload) => void;
}

/** A scenario chosen with a probability proportional to its weight. */
interface Scenario {
  readonly name: string;
  readonly weight: number;
  /** Returns the expected number of activities, or 0 if the scenario is not possible now. */
  readonly run: () => number;
}

/** Small activities, of which each Service notices little. */
const quiet = new Set(['flap', 'endpoints', 'relabel']);

/** Runs random scenarios so that, on average, `rate` activities happen per second. */
export class ActivityGenerator {
  readonly #context: SimulationContext;
  readonly #rate: number;
  readonly #targets: ActivityTargets;
  readonly #scenarios: readonly Scenario[];
  /** Activities allowed now; negative while a scenario of many activities is running. */
  #credit = 0;
  #running = false;
  #previews = 480;

  constructor(context: SimulationContext, rate: number, targets: ActivityTargets, isQuiet = false) {
    this.#context = context;
    this.#rate = rate;
    this.#targets = targets;
    const scenarios = [
      { name: 'flap', weight: 40, run: () => this.#flapReadiness() },
      { name: 'endpoints', weight: 12, run: () => this.#changeEndpoints() },
      { name: 'evict', weight: 10, run: () => this.#evictPod() },
      { name: 'scale', weight: 8, run: () => this.#scale() },
      { name: 'rollout', weight: 8, run: () => this.#rollOut() },
      { name: 'relabel', weight: 4, run: () => this.#relabelService() },
      { name: 'preview', weight: 2, run: () => this.#preview() },
      { name: 'node', weight: 1.5, run: () => targets.nodeFailures.start() },
    ];
    this.#scenarios = isQuiet ? scenarios.filter(({ name }) => quiet.has(name)) : scenarios;
  }

  start(): void {
    if (this.#rate <= 0 || this.#running) return;
    this.#running = true;
    this.#next();
  }

  stop(): void {
    this.#running = false;
  }

  #next(): void {
    const averageMs = 1000 / this.#rate;
    const waitMs = Math.max(1, Math.round(averageMs * (0.5 + this.#context.random.next())));
    this.#context.schedule(waitMs, waitMs, () => {
      if (!this.#running) return;
      this.#credit = Math.min(this.#credit + (waitMs / 1000) * this.#rate, 2 * this.#rate);
      if (this.#credit > 0) this.#credit = Math.max(this.#credit - this.#choose().run(), -maxPauseSeconds * this.#rate);
      this.#next();
    });
  }

  #choose(): Scenario {
    const total = this.#scenarios.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#context.random.next() * total;
    for (const scenario of this.#scenarios) {
      at -= scenario.weight;
      if (at < 0) return scenario;
    }
    return { name: 'none', weight: 0, run: () => 0 };
  }

  /** A Pod fails its readiness probe or restarts its container, then recovers. */
  #flapReadiness(): number {
    const specs: readonly unknown[] = this.#targets.workloads().map(({ spec }) => spec);
    const canFail = ({ ready, terminating, workload }: SimulatedPod) =>
      ready && !terminating && (workload === undefined || specs.includes(workload));
    const pod = this.#context.pick(this.#targets.pods.all().filter(canFail));
    if (pod === undefined) return 0;
    if (this.#context.chance(0.15)) this.#targets.pods.restart(pod);
    else this.#targets.pods.setReady(pod, false, 'failed its readiness probe and is not ready');
    this.#context.schedule(1500, 7000, () => {
      if (pod.node?.ready) this.#targets.pods.setReady(pod, true, 'is ready again');
    });
    return 2;
  }

  #changeEndpoints(): number {
    this.#targets.endpoints.change();
    return 1;
  }

  #evictPod(): number {
    const workload = this.#convergedWorkload();
    const pod = workload && this.#context.pick(this.#targets.pods.of(workload.spec));
    if (pod === undefined) return 0;
    workload?.evict(pod);
    return 5;
  }

  #scale(): number {
    const workload = this.#convergedWorkload();
    if (!(workload instanceof Deployment)) return 0;
    const { replicas } = workload.spec;
    const target = Math.max(2, replicas + this.#context.between(-2, 3));
    if (target === workload.replicas) return 0;
    const more = target - workload.replicas;
    workload.scale(target);
    return 1 + (more > 0 ? 3 * more : -2 * more);
  }

  #rollOut(): number {
    const workload = this.#convergedWorkload();
    if (workload === undefined) return 0;
    workload.rollOut();
    return 1 + 5 * workload.replicas;
  }

  /** Changes a Service label, which all its slices copy. */
  #relabelService(): number {
    const spec = this.#context.pick(this.#targets.workloads())?.spec;
    if (spec === undefined || spec.namespace === 'kube-system') return 0;
    const { namespace, service: name } = spec;
    const release = `r${this.#context.between(100, 999)}`;
    const labels = { metadata: { labels: { release } } };
    if (!this.#context.attempt((api) => api.patch('services', namespace, name, labels))) return 0;
    this.#context.report({
      kind: 'Service',
      namespace,
      name,
      description: `got the label release=${release}`,
      service: name,
    });
    return 1;
  }

  /** Creates a preview environment and deletes it later. */
  #preview(): number {
    const { workload: spec, service } = preview(++this.#previews);
    const { namespace, name } = spec;
    if (!this.#context.attempt((api) => api.create('services', service))) return 0;
    this.#context.report({ kind: 'Service', namespace, name, description: 'was created', service: name });
    const workload = this.#targets.addWorkload(spec);
    workload.requeue();
    this.#context.schedule(20_000, 45_000, () => {
      this.#context.attempt((api) => api.delete('services', namespace, name));
      this.#context.report({ kind: 'Service', namespace, name, description: 'was deleted', service: name });
      this.#targets.removeWorkload(workload);
      workload.delete();
    });
    return 12;
  }

  #convergedWorkload(): Workload | undefined {
    return this.#context.pick(this.#targets.workloads().filter((workload) => workload.converged));
  }
}
