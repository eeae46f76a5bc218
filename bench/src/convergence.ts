import type { PodReadinessEvent } from './pod-readiness-event.ts';
import { completeEndpoints, type Shape, serviceNames } from './shape.ts';

/** Detects when all Pods of every Service are ready in its EndpointSlices and its Endpoints. */
export class Convergence {
  readonly #shape: Shape;
  readonly #incomplete: Set<string>;
  /** Ready Pods of each EndpointSlice, by Service. */
  readonly #slices = new Map<string, Map<string, number>>();
  readonly #endpoints = new Map<string, number>();

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#incomplete = new Set(serviceNames(shape));
  }

  get complete(): boolean {
    return this.#incomplete.size === 0;
  }

  /** Incomplete Services, for messages. */
  get missing(): readonly string[] {
    return [...this.#incomplete];
  }

  observe({ from, name, service, deleted, pods }: PodReadinessEvent): void {
    const ready = deleted ? 0 : pods.reduce((sum, pod) => sum + (pod.ready ? 1 : 0), 0);
    if (from === 'endpoints') {
      this.#endpoints.set(service, ready);
    } else {
      const slices = this.#slices.get(service) ?? new Map<string, number>();
      this.#slices.set(service, slices.set(name, ready));
    }
    if (this.#isComplete(service)) this.#incomplete.delete(service);
  }

  #isComplete(service: string): boolean {
    const inSlices = [...(this.#slices.get(service)?.values() ?? [])].reduce((sum, ready) => sum + ready, 0);
    if (inSlices < this.#shape.pods || this.#shape.custom) return inSlices >= this.#shape.pods;
    return (this.#endpoints.get(service) ?? 0) >= completeEndpoints(this.#shape);
  }
}
