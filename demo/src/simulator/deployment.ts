import { suffix } from './names.ts';
import type { SimulatedPod } from './pods.ts';
import { Workload } from './workload.ts';

/** Rolling update with maxSurge and maxUnavailable of 25 %. */
export class Deployment extends Workload {
  populate(): void {
    for (let i = 0; i < this.replicas; i++) this.pods.launch(this.spec, this.revision, this.#podName(), '', true);
  }

  protected reconcile(pods: readonly SimulatedPod[]): void {
    const living = pods.filter((pod) => !pod.terminating);
    const current = living.filter((pod) => this.isCurrent(pod));
    const old = living.filter((pod) => !this.isCurrent(pod));
    const surge = old.length > 0 ? Math.ceil(this.replicas / 4) : 0;
    const wanted = Math.min(this.replicas - current.length, this.replicas + surge - living.length);
    for (let i = 0; i < wanted; i++) this.launch(this.#podName());
    for (const pod of mostUsefulFirst(current).slice(this.replicas)) this.pods.terminate(pod);
    const available = living.filter((pod) => pod.ready).length;
    let spare = available - (this.replicas - Math.floor(this.replicas / 4));
    for (const pod of mostUsefulFirst(old).reverse()) {
      if (pod.ready && --spare < 0) break;
      this.pods.terminate(pod);
    }
  }

  #podName(): string {
    return `${this.spec.name}-${this.revision.hash}-${suffix(this.context.random, 5)}`;
  }
}

/** Ready Pods first, then the oldest. */
function mostUsefulFirst(pods: readonly SimulatedPod[]): SimulatedPod[] {
  return [...pods].sort((a, b) => Number(b.ready) - Number(a.ready) || a.startedAt - b.startedAt);
}
