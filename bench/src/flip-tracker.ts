/** Results of the flips. Latencies are in milliseconds, in order of completion. */
export interface FlipResults {
  readonly latencies: readonly number[];
  /** Flips without a latency: several of a Pod waited, and which of them a version shows is unknown, or the Pod flipped back. */
  readonly cancelled: number;
  /** Flips of Pods whose last state no version has shown. */
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
 * The latency of a flip runs from the response to its write until the first version that changes what the object shows of the Pod to
 * the state of that flip, be it because of the flip or of a later one. A version that shows the same as before proves nothing: it may
 * be older than the flip. If more flips of the Pod wait, only the first of them has a latency. The caller passes times in milliseconds
 * on one clock. A version may arrive before the response to the write that caused it; the latency is then zero.
 */
export class FlipTracker {
  /** Of each Pod with flips that are not complete, in their order. */
  readonly #open = new Map<string, readonly Flip[]>();
  /** Readiness of each Pod in the last version. */
  readonly #shown = new Map<string, boolean>();
  readonly #latencies: number[] = [];
  #cancelled = 0;

  /** Call before sending the write of a flip. */
  sent(pod: string, ready: boolean): void {
    const flips = this.#open.get(pod) ?? [];
    // Nothing waits, so the object shows the state before.
    if (!flips.some(isWaiting)) this.#shown.set(pod, !ready);
    this.#open.set(pod, [...flips, { ready }]);
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
    if (this.#shown.get(pod) === ready) return false;
    this.#shown.set(pod, ready);
    const flips = this.#open.get(pod) ?? [];
    const isShown = (flip: Flip) => isWaiting(flip) && flip.ready === ready;
    const [first, last] = [flips.findIndex(isShown), flips.findLastIndex(isShown)];
    if (first < 0) return false;
    for (const flip of flips.slice(0, first + 1)) flip.shownAt ??= at;
    this.#cancelled += last - first;
    this.#open.set(pod, flips.toSpliced(first + 1, last - first));
    return this.#complete(pod);
  }

  /** Forgets the flips of a Pod that wait, and counts them as cancelled. */
  withdraw(pod: string): void {
    this.#cancelled += this.#open.get(pod)?.length ?? 0;
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
      cancelled: this.#cancelled + this.#count((pod, flips) => this.#isBack(pod, flips)),
      missing: this.pending,
    };
  }

  /** Whether the last flip is to the state already shown, so that a controller has nothing to write. */
  #isBack(pod: string, flips: readonly Flip[]): boolean {
    const last = flips.at(-1);
    return last !== undefined && isWaiting(last) && last.ready === this.#shown.get(pod);
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

const isWaiting = ({ shownAt }: Flip): boolean => shownAt === undefined;
