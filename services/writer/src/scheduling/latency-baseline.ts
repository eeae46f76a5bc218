/** Weight of the newest sample in the moving average. */
const smoothing = 0.2;
/** Differences below this are noise and no sign of queueing in the server. */
const noiseMs = 50;
/** Latency above this multiple of the baseline is too high. */
const tolerance = 3;
/** Upward drift of the baseline per sample, so that a server that stays slower is accepted eventually. */
const drift = 0.002;
/** Samples before the average is meaningful. */
const minSamples = 8;

/** Tracks a server's usual latency and whether current latency is well above it. */
export class LatencyBaseline {
  #baselineMs = Number.POSITIVE_INFINITY;
  #meanMs = 0;
  #samples = 0;

  add(latencyMs: number): void {
    this.#samples++;
    this.#meanMs = this.#samples === 1 ? latencyMs : this.#meanMs + (latencyMs - this.#meanMs) * smoothing;
    if (latencyMs < this.#baselineMs) this.#baselineMs = latencyMs;
    else this.#baselineMs += (latencyMs - this.#baselineMs) * drift;
  }

  get isRaised(): boolean {
    return this.#samples >= minSamples && this.#meanMs > this.#baselineMs * tolerance + noiseMs;
  }

  /** Restarts the moving average and keeps the baseline. */
  restart(): void {
    this.#samples = 0;
  }
}
