import type { CustomEndpoints } from './custom-endpoints.ts';
import { Deployment } from './deployment.ts';
import { NodeFailures } from './node-failures.ts';
import type { Nodes } from './nodes.ts';
import type { Pods } from './pods.ts';
import { preview, type WorkloadSpec } from './sample-objects.ts';
import type { SimulationContext } from './simulation-context.ts';
import type { Workload } from './workload.ts';

/** After a large happening the next one waits no longer than so many seconds, however much is still to come. */
const longestPauseS = 3;

/** What the director may set in motion. */
export interface Cast {
  readonly nodes: Nodes;
  readonly pods: Pods;
  readonly endpoints: CustomEndpoints;
  readonly workloads: () => readonly Workload[];
  readonly addWorkload: (spec: WorkloadSpec) => Workload;
  readonly removeWorkload: (workload: Workload) => void;
}

/** Something that may happen. It returns how many actions it will come to, or 0 if it cannot happen now. */
interface Happening {
  readonly weight: number;
  readonly happen: () => number;
}

/** Decides what happens next, such that on average `rate` actions happen a second. */
export class ActivityGenerator {
  readonly #stage: SimulationContext;
  readonly #rate: number;
  readonly #cast: Cast;
  readonly #trouble: NodeFailures;
  readonly #happenings: readonly Happening[];
  /** Actions that may happen now; negative while those of a large happening are still to come. */
  #credit = 0;
  #running = false;
  #previews = 480;

  constructor(stage: SimulationContext, rate: number, cast: Cast) {
    this.#stage = stage;
    this.#rate = rate;
    this.#cast = cast;
    this.#trouble = new NodeFailures(stage, cast.nodes, cast.pods);
    this.#happenings = [
      { weight: 40, happen: () => this.#flip() },
      { weight: 12, happen: () => this.#changeEndpoints() },
      { weight: 10, happen: () => this.#move() },
      { weight: 8, happen: () => this.#scale() },
      { weight: 8, happen: () => this.#rollOut() },
      { weight: 4, happen: () => this.#relabel() },
      { weight: 2, happen: () => this.#preview() },
      { weight: 1.5, happen: () => this.#trouble.begin() },
    ];
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
    const waitMs = Math.max(1, Math.round(averageMs * (0.5 + this.#stage.random.next())));
    this.#stage.later(waitMs, waitMs, () => {
      if (!this.#running) return;
      this.#credit = Math.min(this.#credit + (waitMs / 1000) * this.#rate, 2 * this.#rate);
      if (this.#credit > 0)
        this.#credit = Math.max(this.#credit - this.#choose().happen(), -longestPauseS * this.#rate);
      this.#next();
    });
  }

  #choose(): Happening {
    const total = this.#happenings.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#stage.random.next() * total;
    for (const happening of this.#happenings) {
      at -= happening.weight;
      if (at < 0) return happening;
    }
    return { weight: 0, happen: () => 0 };
  }

  /** A Pod fails its readiness probe, or its container crashes, and it recovers. */
  #flip(): number {
    const pod = this.#stage.pick(this.#cast.pods.all().filter((one) => one.ready && !one.terminating));
    if (pod === undefined) return 0;
    if (this.#stage.chance(0.15)) this.#cast.pods.restart(pod);
    else this.#cast.pods.setReady(pod, false, 'failed its readiness probe and is not ready');
    this.#stage.later(1500, 7000, () => {
      if (pod.node?.ready) this.#cast.pods.setReady(pod, true, 'is ready again');
    });
    return 2;
  }

  #changeEndpoints(): number {
    this.#cast.endpoints.change();
    return 1;
  }

  #move(): number {
    const workload = this.#settled();
    const pod = workload && this.#stage.pick(this.#cast.pods.of(workload.spec));
    if (pod === undefined) return 0;
    workload?.move(pod);
    return 5;
  }

  #scale(): number {
    const workload = this.#settled();
    if (!(workload instanceof Deployment)) return 0;
    const { replicas } = workload.spec;
    const target = Math.max(2, replicas + this.#stage.between(-2, 3));
    if (target === workload.replicas) return 0;
    const more = target - workload.replicas;
    workload.scale(target);
    return 1 + (more > 0 ? 3 * more : -2 * more);
  }

  #rollOut(): number {
    const workload = this.#settled();
    if (workload === undefined) return 0;
    workload.rollOut();
    return 1 + 5 * workload.replicas;
  }

  /** Somebody changes a label of a Service, which all its slices carry. */
  #relabel(): number {
    const spec = this.#stage.pick(this.#cast.workloads())?.spec;
    if (spec === undefined || spec.namespace === 'kube-system') return 0;
    const { namespace, service: name } = spec;
    const release = `r${this.#stage.between(100, 999)}`;
    const labels = { metadata: { labels: { release } } };
    if (!this.#stage.attempt((api) => api.patch('services', namespace, name, labels))) return 0;
    this.#stage.tell({ kind: 'Service', namespace, name, what: `got the label release=${release}`, service: name });
    return 1;
  }

  /** A preview environment comes, and goes after a while. */
  #preview(): number {
    const { workload: spec, service } = preview(++this.#previews);
    const { namespace, name } = spec;
    if (!this.#stage.attempt((api) => api.create('services', service))) return 0;
    this.#stage.tell({ kind: 'Service', namespace, name, what: 'was created', service: name });
    const workload = this.#cast.addWorkload(spec);
    workload.requeue();
    this.#stage.later(20_000, 45_000, () => {
      this.#stage.attempt((api) => api.delete('services', namespace, name));
      this.#stage.tell({ kind: 'Service', namespace, name, what: 'was deleted', service: name });
      this.#cast.removeWorkload(workload);
      workload.delete();
    });
    return 12;
  }

  /** A workload with nothing under way. */
  #settled(): Workload | undefined {
    return this.#stage.pick(this.#cast.workloads().filter((workload) => workload.converged));
  }
}
