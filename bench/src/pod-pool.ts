import { type Random, randomInteger } from '@sluice/platform';
import type { BenchPod } from './shape.ts';

/** Pods by readiness, and those free to flip: the ones without a pending flip. */
export class PodPool {
  readonly #random: Random;
  readonly #free: BenchPod[];
  /** In the order in which they were taken. */
  readonly #taken = new Map<string, BenchPod>();
  readonly #notReady: Set<string>;

  /** `notReady`: names of the Pods that are initially not ready. */
  constructor(pods: readonly BenchPod[], random: Random, notReady: Iterable<string> = []) {
    this.#free = [...pods];
    this.#random = random;
    this.#notReady = new Set(notReady);
  }

  /** Names of the Pods that are not ready now. */
  get notReady(): ReadonlySet<string> {
    return this.#notReady;
  }

  /** A random free Pod and its new readiness. If none is free, the one with the oldest pending flip flips again. */
  take(): { readonly pod: BenchPod; readonly ready: boolean } {
    const pod = this.#takeFree() ?? this.#takeOldest();
    this.#taken.set(pod.name, pod);
    const ready = this.#notReady.delete(pod.name);
    if (!ready) this.#notReady.add(pod.name);
    return { pod, ready };
  }

  /** Marks the Pod's flip as visible. */
  release(name: string): void {
    const pod = this.#taken.get(name);
    if (pod === undefined) return;
    this.#taken.delete(name);
    this.#free.push(pod);
  }

  #takeFree(): BenchPod | undefined {
    const at = randomInteger(this.#random, 0, this.#free.length - 1);
    const last = this.#free.pop();
    const chosen = this.#free[at];
    if (chosen === undefined || last === undefined) return last;
    this.#free[at] = last;
    return chosen;
  }

  #takeOldest(): BenchPod {
    const [oldest] = this.#taken.values();
    if (oldest === undefined) throw new Error('no Pods to flip');
    this.#taken.delete(oldest.name);
    return oldest;
  }
}
