/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: string;
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  readonly what: string;
}

/** The violations of a run, in order. */
export class Violations {
  readonly all: Violation[] = [];
  readonly #now: () => number;

  /** `now`: milliseconds since the start of the run. */
  constructor(now: () => number) {
    this.#now = now;
  }

  report(invariant: string, what: string): void {
    if (this.all.length < 20) this.all.push({ invariant, atMs: this.#now(), what });
  }
}
