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
  #failingSince: number | undefined;
  #outage: Outage | null = null;
  #lastAnsweredAt: number;

  constructor(options: AvailabilityMonitorOptions) {
    this.#options = options;
    this.#lastAnsweredAt = options.clock.monotonic();
  }

  /** By `clock.monotonic()`. */
  get lastAnsweredAt(): number {
    return this.#lastAnsweredAt;
  }

  /** Whether the last request failed. */
  get isFailing(): boolean {
    return this.#failingSince !== undefined;
  }

  /** The API server is there, but may not serve what is asked of it. */
  responded(): void {
    this.#lastAnsweredAt = this.#options.clock.monotonic();
  }

  answered(): void {
    this.responded();
    this.#failingSince = undefined;
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
    this.#failingSince ??= since;
    if (this.#outage !== null || clock.now() - this.#failingSince < minOutageMs) return;
    const reason = outageReason(error);
    const fields = { since: new Date(this.#failingSince).toISOString(), reason, error: error.message };
    logger.warn('cluster not responding; retrying', fields);
    this.#set({ since: this.#failingSince, reason });
  }

  #set(outage: Outage | null): void {
    this.#outage = outage;
    this.#options.onAvailability?.(outage);
  }
}

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
