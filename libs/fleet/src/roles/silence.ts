/**
 * Time without an answer after which a server counts as silent, in milliseconds; a failure that lasts less is no outage. More if its
 * answers take longer: an overloaded server is slow for all members, and must not get the lists of a move as well.
 */
const silentMs = { min: 1_000, max: 10_000, perLatency: 3 };

/** Part of a longer time that remains after each answer. */
const decay = 0.9;

/** Time between requests, in milliseconds. */
export const probeIntervalMs = 500;

/** Whether a server answers requests that are sent to it regularly. All times are those of one clock, in milliseconds. */
export class Silence {
  /** When the first request was sent that nothing was answered since. */
  #since: number | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #limitMs = silentMs.min;

  isDue(at: number): boolean {
    return at - this.#sentAt >= probeIntervalMs;
  }

  isSilent(at: number): boolean {
    return this.#since !== undefined && at - this.#since >= this.#limitMs;
  }

  sent(at: number): void {
    this.#sentAt = at;
    this.#since ??= at;
  }

  /** The request that was sent at `sentAt` was answered. */
  answered(sentAt: number, at: number): void {
    const needed = Math.min(silentMs.max, silentMs.perLatency * (at - sentAt));
    this.#limitMs = Math.max(silentMs.min, decay * this.#limitMs, needed);
    this.#since = undefined;
  }

  /** Nothing is expected from the server for now. */
  forget(): void {
    this.#since = undefined;
  }
}
