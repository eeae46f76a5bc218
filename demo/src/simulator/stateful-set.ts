import type { SimulatedPod } from './pods.ts';
import { Workload } from './workload.ts';

/** Pods with stable names, started in order and updated in reverse order, one at a time. */
export class StatefulSet extends Workload {
  populate(): void {
    for (let i = 0; i < this.replicas; i++) this.pods.launch(this.spec, this.revision, this.#podName(i), '', true);
  }

  protected reconcile(pods: readonly SimulatedPod[]): void {
    const byName = new Map(pods.map((pod) => [pod.name, pod]));
    for (let i = 0; i < this.replicas; i++) {
      const pod = byName.get(this.#podName(i));
      if (pod === undefined) {
        this.launch(this.#podName(i));
        return;
      }
      if (!pod.ready || pod.terminating) return;
    }
    const excess = pods.find((pod) => this.#ordinal(pod) >= this.replicas && !pod.terminating);
    const outdated = [...pods]
      .filter((pod) => !this.isCurrent(pod) && !pod.terminating)
      .sort((a, b) => this.#ordinal(b) - this.#ordinal(a))[0];
    const next = excess ?? outdated;
    if (next !== undefined) this.pods.terminate(next);
  }

  #podName(ordinal: number): string {
    return `${this.spec.name}-${ordinal}`;
  }

  #ordinal(pod: SimulatedPod): number {
    return Number(pod.name.slice(this.spec.name.length + 1));
  }
}
