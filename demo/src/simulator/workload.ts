import { nextVersion, suffix } from './names.ts';
import { newRevision, type Revision } from './pod-object.ts';
import type { Pods, SimulatedPod } from './pods.ts';
import type { WorkloadSpec } from './sample-objects.ts';
import type { SimulationContext } from './simulation-context.ts';

/** A controller of one workload: looks at the Pods there are and does the next step towards what is wanted. */
export abstract class Workload {
  readonly spec: WorkloadSpec;
  protected readonly stage: SimulationContext;
  protected readonly pods: Pods;
  protected revision: Revision;
  #replicas: number;
  #pending = false;
  #retired = false;
  /** Where the Pod was that was moved away last. */
  #avoid = '';

  constructor(stage: SimulationContext, pods: Pods, spec: WorkloadSpec) {
    this.stage = stage;
    this.pods = pods;
    this.spec = spec;
    this.#replicas = spec.replicas;
    this.revision = this.#newRevision(spec.version);
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** Nothing is under way. */
  get converged(): boolean {
    const pods = this.pods.of(this.spec);
    return pods.length === this.#replicas && pods.every((pod) => this.isCurrent(pod) && pod.ready && !pod.terminating);
  }

  /** Creates all Pods, running and ready. */
  abstract populate(): void;
  /** One step. */
  protected abstract reconcile(pods: readonly SimulatedPod[]): void;

  /** Looks again soon; many reasons at once are one look. */
  requeue(): void {
    if (this.#pending) return;
    this.#pending = true;
    this.stage.later(50, 250, () => {
      this.#pending = false;
      if (!this.#retired) this.reconcile(this.pods.of(this.spec));
    });
  }

  rollOut(): void {
    const { version } = this.revision;
    this.revision = this.#newRevision(nextVersion(version, this.stage.random));
    this.#tell(`rolls out version ${this.revision.version} (was ${version})`);
    this.requeue();
  }

  scale(replicas: number): void {
    this.#tell(`is scaled from ${this.#replicas} to ${replicas} replicas`);
    this.#replicas = replicas;
    this.requeue();
  }

  /** Deletes a Pod, whose successor starts elsewhere. */
  move(pod: SimulatedPod): void {
    this.#avoid = pod.node?.name ?? '';
    this.pods.terminate(pod, `is evicted from ${pod.node?.name ?? 'its Node'}`);
  }

  /** The workload is deleted, and its Pods with it. */
  delete(): void {
    this.#retired = true;
    for (const pod of this.pods.of(this.spec)) this.pods.terminate(pod);
  }

  protected launch(name: string): void {
    this.pods.launch(this.spec, this.revision, name, this.#avoid);
    this.#avoid = '';
  }

  protected isCurrent(pod: SimulatedPod): boolean {
    return pod.revision === this.revision;
  }

  #newRevision(version: string): Revision {
    return newRevision(this.stage.random, suffix(this.stage.random, 9), version);
  }

  #tell(what: string): void {
    const { kind, namespace, name, service } = this.spec;
    this.stage.tell({ kind, namespace, name, what, service });
  }
}
