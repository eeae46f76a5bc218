import type { BenchPod } from './shape.ts';

/** The Pods by their readiness, and which of them may flip: those without a flip that is still to be seen. */
export class PodPool {
  readonly #random: () => number;
  readonly #free: BenchPod[];
  /** In the order in which they were taken. */
  readonly #taken = new Map<string, BenchPod>();
  readonly #notReady: Set<string>;

  /** `notReady`: names of the Pods that are not ready to begin with. */
  constructor(pods: readonly BenchPod[], random: () => number, notReady: Iterable<string> = []) {
    this.#free = [...pods];
    this.#random = random;
    this.#notReady = new Set(notReady);
  }

  /** Names of the Pods that are not ready now. */
  get notReady(): ReadonlySet<string> {
    return this.#notReady;
  }

  /** A random free Pod and the readiness it shall have now. If none is free, the one that waits longest flips again. */
  take(): { readonly pod: BenchPod; readonly ready: boolean } {
    const pod = this.#takeFree() ?? this.#takeOldest();
    this.#taken.set(pod.name, pod);
    const ready = this.#notReady.delete(pod.name);
    if (!ready) this.#notReady.add(pod.name);
    return { pod, ready };
  }

  /** The Pod's flip has been seen. */
  release(name: string): void {
    const pod = this.#taken.get(name);
    if (pod === undefined) return;
    this.#taken.delete(name);
    this.#free.push(pod);
  }

  #takeFree(): BenchPod | undefined {
    const at = Math.floor(this.#random() * this.#free.length);
    const last = this.#free.pop();
    const chosen = this.#free[at];
    if (chosen === undefined || last === undefined) return last;
    this.#free[at] = last;
    return chosen;
  }

  #takeOldest(): BenchPod {
    const [oldest] = this.#taken.values();
    if (oldest === undefined) throw new Error('there are no Pods to flip');
    this.#taken.delete(oldest.name);
    return oldest;
  }
}
