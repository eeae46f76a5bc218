/** Results of the flips. Latencies are in milliseconds, in order of completion. */
export interface FlipResults {
  readonly latencies: readonly number[];
  /** Flips that no version showed before their Pod flipped back to the state already shown, which needs no version. */
  readonly cancelled: number;
  /** Flips whose state, or a later one of their Pod, no version has shown. */
  readonly missing: number;
}

interface Flip {
  readonly ready: boolean;
  answeredAt?: number;
  shownAt?: number;
}

/**
 * Measures how long each change of a Pod's readiness takes to arrive in an object, by the versions of the object.
 *
 * The latency of a flip runs from the response to its write until the first version that shows its state or that of a later flip of
 * the same Pod. A controller that coalesces flips is thus measured by the version that makes up for the earlier ones. The caller
 * passes times in milliseconds on one clock. A version may arrive before the response to the write that caused it; the latency is
 * then zero.
 */
export class FlipTracker {
  /** Of each Pod with flips that are not complete, in their order. */
  readonly #open = new Map<string, Flip[]>();
  /** Readiness of each Pod in the last version. */
  readonly #shown: Map<string, boolean>;
  readonly #latencies: number[] = [];
  #withdrawn = 0;

  /** `notReady`: Pods that the object shows as not ready at first. */
  constructor(notReady: Iterable<string> = []) {
    this.#shown = new Map([...notReady].map((pod) => [pod, false]));
  }

  /** Call before sending the write of a flip. */
  sent(pod: string, ready: boolean): void {
    const flips = this.#open.get(pod);
    if (flips === undefined) this.#open.set(pod, [{ ready }]);
    else flips.push({ ready });
  }

  /** Call on the API server's response to that write. Returns whether the Pod has no flips left that wait. */
  acknowledged(pod: string, ready: boolean, at: number): boolean {
    const flip = this.#open.get(pod)?.find((one) => one.ready === ready && one.answeredAt === undefined);
    if (flip === undefined) return false;
    flip.answeredAt = at;
    return this.#complete(pod);
  }

  /** Call for each version with the Pod's readiness. Returns whether this completes all flips of the Pod. */
  shown(pod: string, ready: boolean, at: number): boolean {
    this.#shown.set(pod, ready);
    const flips = this.#open.get(pod);
    if (flips === undefined) return false;
    const last = flips.findLastIndex((flip) => flip.ready === ready);
    for (const flip of flips.slice(0, last + 1)) flip.shownAt ??= at;
    return this.#complete(pod);
  }

  /** Forgets the flips of a Pod that wait, and counts them as cancelled. */
  withdraw(pod: string): void {
    this.#withdrawn += this.#open.get(pod)?.length ?? 0;
    this.#open.delete(pod);
  }

  /** Pods with flips that wait. */
  get waiting(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Number of flips that a version still has to show. */
  get pending(): number {
    return this.#count((pod, flips) => !this.#isBack(pod, flips));
  }

  results(): FlipResults {
    return {
      latencies: [...this.#latencies],
      cancelled: this.#withdrawn + this.#count((pod, flips) => this.#isBack(pod, flips)),
      missing: this.pending,
    };
  }

  /** Whether the last flip is to the state already shown, so that a controller has nothing to write. */
  #isBack(pod: string, flips: readonly Flip[]): boolean {
    const last = flips.at(-1);
    return flips.length > 1 && last?.shownAt === undefined && last?.ready === (this.#shown.get(pod) ?? true);
  }

  #count(counts: (pod: string, flips: readonly Flip[]) => boolean): number {
    let count = 0;
    for (const [pod, flips] of this.#open) if (counts(pod, flips)) count += flips.length;
    return count;
  }

  #complete(pod: string): boolean {
    const rest = (this.#open.get(pod) ?? []).filter(({ answeredAt, shownAt }) => {
      if (answeredAt === undefined || shownAt === undefined) return true;
      this.#latencies.push(Math.max(0, shownAt - answeredAt));
      return false;
    });
    if (rest.length > 0) this.#open.set(pod, rest);
    else this.#open.delete(pod);
    return rest.length === 0;
  }
}
