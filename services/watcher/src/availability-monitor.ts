import { type ApiError, isOutage, outageReason } from '@sluice/kubernetes';
import type { Clock, Logger } from '@sluice/platform';
import type { Outage } from '@sluice/store';

interface AvailabilityMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the API server stops answering, and with null when it answers again. */
  readonly onAvailability?: ((outage: Outage | null) => void) | undefined;
}

/** Failures that last less are no outage: a proxy may cut all connections at once, in milliseconds. */
const minOutageMs = 1_000;

/** Learns from the requests of all reflectors of a cluster whether its API server answers, and logs each change once. */
export class AvailabilityMonitor {
  readonly #options: AvailabilityMonitorOptions;
  /** `since`: when the first request in a row failed; `lastAnswer`: the last one before, up to which the state is known. */
  #failing: { readonly since: number; readonly lastAnswer: number } | undefined;
  #outage: Outage | null = null;
  #neverAnswered = true;
  #lastAnswer: { readonly at: number; readonly monotonic: number };

  constructor(options: AvailabilityMonitorOptions) {
    this.#options = options;
    this.#lastAnswer = timeOf(options.clock);
  }

  /** By `clock.monotonic()`. */
  get lastAnsweredAt(): number {
    return this.#lastAnswer.monotonic;
  }

  /** Whether the last request failed. */
  get isFailing(): boolean {
    return this.#failing !== undefined;
  }

  /** The API server is there, but may not serve what is asked of it. */
  responded(): void {
    this.#lastAnswer = timeOf(this.#options.clock);
  }

  answered(): void {
    this.responded();
    this.#neverAnswered = false;
    this.#failing = undefined;
    if (this.#outage === null) return;
    const { clock, logger } = this.#options;
    const seconds = Math.round((clock.now() - this.#outage.since) / 1_000);
    logger.info('cluster responding again', { after: `${seconds}s` });
    this.#set(null);
  }

  /** `since`: when the request was sent that was not answered; in milliseconds since the Unix epoch. */
  failed(error: ApiError, since = this.#options.clock.now()): void {
    if (!isOutage(error)) return this.answered();
    const { clock, logger } = this.#options;
    this.#failing ??= { since, lastAnswer: Math.min(since, this.#lastAnswer.at) };
    if (this.#outage !== null || clock.now() - this.#failing.since < minOutageMs) return;
    const { lastAnswer } = this.#failing;
    const reason = outageReason(error);
    const fields = { since: new Date(lastAnswer).toISOString(), reason, error: error.message };
    logger.warn('cluster not responding; retrying', fields);
    this.#set({ since: lastAnswer, reason, ...(this.#neverAnswered && { neverAnswered: true }) });
  }

  #set(outage: Outage | null): void {
    this.#outage = outage;
    this.#options.onAvailability?.(outage);
  }
}

const timeOf = (clock: Clock) => ({ at: clock.now(), monotonic: clock.monotonic() });

/** In milliseconds. */
const recentMs = 30_000;

/**
 * Leases that seemed about to expire and did not. Shared by all clusters of a process: when a fleet is overloaded, heartbeats are
 * late, and a process that listed all clusters of another one would make it worse.
 */
export class FalseAlarms {
  readonly #clock: Clock;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRecent(): boolean {
    return this.#clock.monotonic() < this.#lastAt + recentMs;
  }

  report(): void {
    this.#lastAt = this.#clock.monotonic();
  }
}
