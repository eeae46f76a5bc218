/** What became of the flips. Latencies are in milliseconds, in the order in which they became known. */
export interface FlipResults {
  readonly latencies: readonly number[];
  /** Flips whose Pod flipped again before they were seen; they have no latency. */
  readonly superseded: number;
  /** Flips that are still not to be seen. */
  readonly missing: number;
}

interface Flip {
  readonly ready: boolean;
  readonly answeredAt: number | undefined;
  readonly shownAt: number | undefined;
}

/**
 * Matches each change of a Pod's readiness with the first event that shows it. Times come from the caller, on one clock
 * in milliseconds. An event may overtake the answer to the write that caused it: the latency is zero then.
 */
export class FlipTracker {
  readonly #open = new Map<string, Flip>();
  readonly #latencies: number[] = [];
  #superseded = 0;

  /** A write that makes the Pod ready or not is about to be sent. */
  began(pod: string, ready: boolean): void {
    if (this.#open.has(pod)) this.#superseded += 1;
    this.#open.set(pod, { ready, answeredAt: undefined, shownAt: undefined });
  }

  /** The API server answered that write. Returns whether the flip is complete. */
  answered(pod: string, ready: boolean, at: number): boolean {
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.answeredAt !== undefined) return false;
    return this.#advance(pod, { ...flip, answeredAt: at });
  }

  /** An event shows the Pod so. Returns whether a flip is complete by it. */
  shown(pod: string, ready: boolean, at: number): boolean {
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.shownAt !== undefined) return false;
    return this.#advance(pod, { ...flip, shownAt: at });
  }

  get open(): number {
    return this.#open.size;
  }

  results(): FlipResults {
    return { latencies: [...this.#latencies], superseded: this.#superseded, missing: this.#open.size };
  }

  #advance(pod: string, flip: Flip): boolean {
    if (flip.answeredAt === undefined || flip.shownAt === undefined) {
      this.#open.set(pod, flip);
      return false;
    }
    this.#open.delete(pod);
    this.#latencies.push(Math.max(0, flip.shownAt - flip.answeredAt));
    return true;
  }
}
