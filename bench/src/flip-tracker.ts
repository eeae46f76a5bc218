/** Results of the flips. Latencies are in milliseconds, in order of completion. */
export interface FlipResults {
  readonly latencies: readonly number[];
  /** Flips without a latency: their Pod flipped again before an event showed them, or back to the state already shown. */
  readonly superseded: number;
  /** Flips that no event has shown. */
  readonly missing: number;
}

interface Flip {
  readonly ready: boolean;
  /** Flipped back to the state of the last event: a controller that coalesces both flips writes nothing. */
  readonly back: boolean;
  readonly answeredAt: number | undefined;
  readonly shownAt: number | undefined;
}

/**
 * Matches each change of a Pod's readiness with the first event that shows it. The caller passes times in milliseconds on
 * one clock. An event may arrive before the response to the write that caused it; the latency is then zero.
 */
export class FlipTracker {
  readonly #open = new Map<string, Flip>();
  /** Readiness of each Pod in its last event; initially ready. */
  readonly #shown = new Map<string, boolean>();
  readonly #latencies: number[] = [];
  #superseded = 0;

  /** Call before sending the write of a flip. */
  sent(pod: string, ready: boolean): void {
    const before = this.#open.get(pod);
    if (before !== undefined) this.#superseded += 1;
    const back = before !== undefined && (this.#shown.get(pod) ?? true) === ready;
    this.#open.set(pod, { ready, back, answeredAt: undefined, shownAt: undefined });
  }

  /** Call on the API server's response to that write. Returns whether the flip is complete. */
  acknowledged(pod: string, ready: boolean, at: number): boolean {
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.answeredAt !== undefined) return false;
    return this.#advance(pod, { ...flip, answeredAt: at });
  }

  /** Call for each event with the Pod's readiness. Returns whether this completes a flip. */
  shown(pod: string, ready: boolean, at: number): boolean {
    this.#shown.set(pod, ready);
    const flip = this.#open.get(pod);
    if (flip === undefined || flip.ready !== ready || flip.shownAt !== undefined) return false;
    return this.#advance(pod, { ...flip, shownAt: at });
  }

  /** Number of flips that no event has shown yet. */
  get pending(): number {
    return this.#open.size - this.#back();
  }

  results(): FlipResults {
    return { latencies: [...this.#latencies], superseded: this.#superseded + this.#back(), missing: this.pending };
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
