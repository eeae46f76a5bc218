import { nextVersion, suffix } from './names.ts';
import { newRevision, type Revision } from './pod-object.ts';
import type { Pods, SimulatedPod } from './pods.ts';
import type { WorkloadSpec } from './sample-objects.ts';
import type { SimulationContext } from './simulation-context.ts';

/** The controller of one workload. */
export abstract class Workload {
  readonly spec: WorkloadSpec;
  protected readonly context: SimulationContext;
  protected readonly pods: Pods;
  protected revision: Revision;
  #replicas: number;
  #pending = false;
  #deleted = false;
  /** Node of the last evicted Pod; its replacement starts elsewhere. */
  #avoid = '';

  constructor(context: SimulationContext, pods: Pods, spec: WorkloadSpec) {
    this.context = context;
    this.pods = pods;
    this.spec = spec;
    this.#replicas = spec.replicas;
    this.revision = this.#newRevision(spec.version);
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** True if all replicas are ready at the current revision. */
  get converged(): boolean {
    const pods = this.pods.of(this.spec);
    return pods.length === this.#replicas && pods.every((pod) => this.isCurrent(pod) && pod.ready && !pod.terminating);
  }

  /** Creates all Pods, ready at once. */
  abstract populate(): void;
  /** Takes the next step from `pods` to the desired state. */
  protected abstract reconcile(pods: readonly SimulatedPod[]): void;

  /** Schedules a reconcile; requests within a short time are coalesced. */
  requeue(): void {
    if (this.#pending) return;
    this.#pending = true;
    this.context.schedule(50, 250, () => {
      this.#pending = false;
      if (!this.#deleted) this.reconcile(this.pods.of(this.spec));
    });
  }

  rollOut(): void {
    const { version } = this.revision;
    this.revision = this.#newRevision(nextVersion(version, this.context.random));
    this.#report(`rolls out version ${this.revision.version} (was ${version})`);
    this.requeue();
  }

  scale(replicas: number): void {
    this.#report(`is scaled from ${this.#replicas} to ${replicas} replicas`);
    this.#replicas = replicas;
    this.requeue();
  }

  /** Deletes a Pod; its replacement starts on another Node. */
  evict(pod: SimulatedPod): void {
    this.#avoid = pod.node?.name ?? '';
    this.pods.terminate(pod, `is evicted from ${pod.node?.name ?? 'its Node'}`);
  }

  /** Deletes the workload and its Pods. */
  delete(): void {
    this.#deleted = true;
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
    return newRevision(this.context.random, suffix(this.context.random, 9), version);
  }

  #report(description: string): void {
    const { kind, namespace, name, service } = this.spec;
    this.context.report({ kind, namespace, name, description, service });
  }
}
