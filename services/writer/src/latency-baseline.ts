/** Weight of the newest answer in the mean. */
const weight = 0.2;
/** Below this difference, in milliseconds, latency is noise of both machines and no sign of a queue in the server. */
const noiseMs = 50;
/** So many times the usual is too long. */
const tolerated = 3;
/** What is usual follows slowly upwards, per answer, so that a server that has become slower for good is not held back. */
const drift = 0.002;
/** Answers after which the mean says something. */
const enough = 8;

/** What answers of a server usually take, and whether they take much longer now. */
export class LatencyBaseline {
  #usualMs = Number.POSITIVE_INFINITY;
  #meanMs = 0;
  #answers = 0;

  add(latencyMs: number): void {
    this.#answers++;
    this.#meanMs = this.#answers === 1 ? latencyMs : this.#meanMs + (latencyMs - this.#meanMs) * weight;
    if (latencyMs < this.#usualMs) this.#usualMs = latencyMs;
    else this.#usualMs += (latencyMs - this.#usualMs) * drift;
  }

  get isRaised(): boolean {
    return this.#answers >= enough && this.#meanMs > this.#usualMs * tolerated + noiseMs;
  }

  /** Judges by what comes from now on; what is usual stays known. */
  restart(): void {
    this.#answers = 0;
  }
}
