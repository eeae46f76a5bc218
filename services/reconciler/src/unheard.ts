/** At least, from one question to the next, in milliseconds: a cluster that nobody watches leads to no flood of them. */
const askIntervalMs = 60_000;

/**
 * Services that no watcher seems to know: it compares each of its own from time to time, and of these nothing came for
 * longer than that. A Service that vanished while its watcher was away, and with it what was told before, is known here
 * alone. Whoever asks for it is told what there is, if only that there is nothing.
 */
export class Unheard {
  /** When each was last told of, or asked for, by formatted key; the longest ago comes first. */
  readonly #heardAt = new Map<string, number>();
  readonly #silenceMs: number;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `silenceMs`: longer than watchers that know a Service say nothing of it. */
  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Something was told of the Service. */
  hear(key: string, now: number): void {
    this.#heardAt.delete(key);
    this.#heardAt.set(key, now);
  }

  /** Nothing of it is left here. */
  drop(key: string): void {
    this.#heardAt.delete(key);
  }

  /** When the next one is to be asked for. */
  get dueAt(): number | undefined {
    const [longest] = this.#heardAt.values();
    if (longest === undefined) return undefined;
    return Math.max(longest + this.#silenceMs, this.#askedAt + askIntervalMs);
  }

  /** One that is to be asked for now, if any is. */
  take(now: number): string | undefined {
    const { dueAt } = this;
    const [key] = this.#heardAt.keys();
    if (key === undefined || dueAt === undefined || dueAt > now) return undefined;
    this.#askedAt = now;
    this.hear(key, now);
    return key;
  }
}
