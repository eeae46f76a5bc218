/** Something that happened in a run. */
export interface TimelineEntry {
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  /** Process, `user` or `fault`. */
  readonly actor: string;
  readonly what: string;
}

/** What happened in a run, oldest first: all of it, or only the last entries. */
export class Timeline {
  readonly #limit: number;
  #entries: (() => TimelineEntry)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `entry` is called only if somebody reads the timeline. */
  add(entry: () => TimelineEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > 2 * this.#limit) this.#entries = this.#entries.slice(-this.#limit);
  }

  get entries(): readonly TimelineEntry[] {
    return this.#entries.slice(-this.#limit).map((entry) => entry());
  }
}

export function formatEntry({ atMs, actor, what }: TimelineEntry): string {
  return `${(atMs / 1000).toFixed(3).padStart(9)}s ${actor.padEnd(16)} ${what}`;
}
