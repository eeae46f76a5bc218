/** Weight of the newest request in the moving average. */
const smoothing = 0.05;
/** After this much time without requests, the average has fallen to about a third. */
const decayMs = 1_000;
/** A server with spare capacity needs less than this multiple of its usual latency, plus noise. */
const tolerance = 3;
const noiseMs = 50;
/** A server that stays slower for some minutes is accepted as such. */
const driftMs = 300_000;

/**
 * Tracks by how much the requests of a cluster take longer than with spare capacity, their wait for a slot included. The
 * average starts at zero, follows many requests and forgets the past, so that only many slow requests in a row count. All
 * times in milliseconds.
 */
export class Saturation {
  #meanMs = 0;
  /** Latency of a request without load: the lowest one, rising slowly. */
  #usualMs = Number.POSITIVE_INFINITY;
  #updatedAt = 0;

  /** `latencyMs`: from sending a request to its answer. `responseMs`: includes its wait for a slot. */
  add(latencyMs: number, responseMs: number, now: number): void {
    const mean = this.#meanAt(now);
    this.#meanMs = mean + (responseMs - mean) * smoothing;
    if (latencyMs < this.#usualMs) this.#usualMs = latencyMs;
    else this.#usualMs += (latencyMs - this.#usualMs) * (1 - Math.exp(-this.#sinceUpdate(now) / driftMs));
    this.#updatedAt = now;
  }

  excessMs(now: number): number {
    return Math.max(0, this.#meanAt(now) - this.#usualMs * tolerance - noiseMs);
  }

  #meanAt(now: number): number {
    return this.#meanMs * Math.exp(-this.#sinceUpdate(now) / decayMs);
  }

  #sinceUpdate(now: number): number {
    return Math.max(0, now - this.#updatedAt);
  }
}
