/** What became of the flips. Latencies are in milliseconds, in the order in which they became known. */
export interface FlipResults {
  readonly latencies: readonly number[];
  /** Flips whose Pod flipped again before they were seen, and those back to what was shown all along; they have no latency. */
  readonly superseded: number;
  /** Flips that are still not to be seen. */
  readonly missing: number;
}

interface Flip {
  readonly ready: boolean;
  /** Back to what the last event showed: who folds both flips together has nothing to write, and no event need come. */
  readonly back: boolean;
  readonly answeredAt: number | undefined;
  readonly shownAt: number | undefined;
}

/**
 * Matches each change of a Pod's readiness with the first event that shows it. Times come from the caller, on one clock
 * in milliseconds. An event may overtake the answer to the write that caused it: the latency is zero then.
 */
export class FlipTracker {
  readonly #open = new Map<string, Flip>();
  /** Of each Pod, as the last event had it; all begin ready. */
  readonly #shown = new Map<string, boolean>();
  readonly #latencies: number[] = [];
  #superseded = 0;

  /** A write that makes the Pod ready or not is about to be sent. */
  began(pod: string, ready: boolean): void {
    const before = this.#open.get(pod);
    if (before !== undefined) this.#superseded += 1;
    const back = before !== undefined && (this.#shown.get(pod) ?? true) === ready;
    this.#open.set(pod, { ready, back, answeredAt: undefined, shownAt: undefined });
  }

  /** The API server answered that write. Returns whether the flip is complete. */
  answered(pod: string, ready: boolean, at: number): boolean {
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.answeredAt !== undefined) return false;
    return this.#advance(pod, { ...flip, answeredAt: at });
  }

  /** An event shows the Pod so. Returns whether a flip is complete by it. */
  shown(pod: string, ready: boolean, at: number): boolean {
    this.#shown.set(pod, ready);
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.shownAt !== undefined) return false;
    return this.#advance(pod, { ...flip, shownAt: at });
  }

  /** Flips that an event has yet to show. */
  get open(): number {
    return this.#open.size - this.#back();
  }

  results(): FlipResults {
    return { latencies: [...this.#latencies], superseded: this.#superseded + this.#back(), missing: this.open };
  }

  #back(): number {
    return this.#open.values().reduce((count, { back }) => count + (back ? 1 : 0), 0);
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
