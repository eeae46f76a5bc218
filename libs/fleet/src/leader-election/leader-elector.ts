import {
  type ApiError,
  type Connection,
  isApiError,
  LeaseClient,
  type LeaseRequest,
  leasePath,
  leaseRecord,
  newLease,
  renewed,
} from '@sluice/kubernetes';
import { ClusterUnavailableError, unavailable } from '@sluice/kubernetes/preflight';
import { type Clock, elapsedMs, type Instant, instant, type JsonRecord, type Logger, sleep } from '@sluice/platform';
import { printableLine } from '@sluice/platform/process';
import type { LeaderElectionConfiguration } from '../configuration/index.ts';

interface LeaderElectorOptions extends LeaderElectionConfiguration {
  readonly cluster: string;
  /** Of its own, so that a renewal never waits for other requests. */
  readonly connection: Pick<Connection, 'server' | 'request' | 'destroy'>;
  /** Unique for each start of a process. */
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * How often a standby reads the Lease at most, in milliseconds. It counts the lease duration from the time at which it sees a
 * renewal, so this delays a take-over.
 */
const observeMs = 250;
const releaseTimeoutMs = 1_000;

/**
 * Leader election with a Lease, with the rules of client-go (ADR 0071). A process that is not the leader counts the duration in
 * the Lease from the time at which it saw the last renewal, so clocks need not agree. Without a release it also does so if the Lease was
 * deleted, emptied or restored from a backup meanwhile: the holder that it has seen may not know yet. The leader counts the renew deadline,
 * which is shorter, from the time at which it sent its last renewal. Leadership that is lost does not come back.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #lease: LeaseClient;
  readonly #elected = Promise.withResolvers<void>();
  readonly #lost = new AbortController();
  /** The last holder that was read; empty if there was none. */
  #holder = '';
  /** What the Lease said when it was read last, to detect a renewal. */
  #spec = '';
  /** `acquireTime` of the last holder: who releases the Lease keeps it, so a Lease that is restored to an earlier release has another. */
  #acquireTime = '';
  /** Monotonic time until which the lease of the last holder is valid, even if the Lease was deleted or emptied. */
  #validUntil = Number.NEGATIVE_INFINITY;
  /** When the last successful renewal of this process was sent; undefined if it was never elected. */
  #renewedAt: Instant | undefined;
  #failing = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#lease = new LeaseClient(options.connection, leasePath(options.resourceNamespace, options.resourceName));
  }

  /** Resolves once this process is the leader. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Aborts when this process was the leader and is not anymore. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether this process is the leader, and no other can be. */
  get isLeader(): boolean {
    const { clock, renewDeadlineMs } = this.#options;
    if (this.#renewedAt === undefined || this.#lost.signal.aborted) return false;
    return elapsedMs(clock, this.#renewedAt) < renewDeadlineMs;
  }

  /**
   * Reads the Lease, and has the API server check a write that it does not store, to report what an operator must correct.
   *
   * @throws ClusterUnavailableError if the Lease cannot be read or written
   */
  async check(signal: AbortSignal): Promise<void> {
    try {
      const lease = await this.#read(signal);
      await this.#lease.write(lease, this.#request(signal), { dryRun: true });
    } catch (error) {
      if (!isApiError(error)) throw error;
      // 409: another process has renewed it meanwhile.
      if (error.status !== 409) throw this.#unusable(error);
    }
  }

  /** Stands by until this process is elected, then renews until `signal` aborts or leadership is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const { identity, logger, clock, cluster } = this.#options;
    logger.info('attempting to acquire leader lease', { cluster, lease: this.#lease.name, identity });
    while (!(await this.#attempt(signal))) {
      if (signal.aborted) return;
      await sleep(clock, this.#untilNextAttemptMs(), signal);
    }
    logger.info('successfully acquired lease', { cluster, lease: this.#lease.name, identity });
    this.#elected.resolve();
    const stop = AbortSignal.any([signal, this.#lost.signal]);
    await Promise.all([this.#renew(stop), this.#enforceDeadline(stop)]);
  }

  /** Releases the Lease if this process holds it, so that the next leader need not wait for its expiry. Best effort. */
  async close(): Promise<void> {
    const { connection, identity, cluster, logger } = this.#options;
    const wasElected = this.#renewedAt !== undefined;
    this.#renewedAt = undefined;
    try {
      if (!wasElected) return;
      await this.#lease.release(({ holder }) => holder === identity, releaseTimeoutMs);
    } catch (error) {
      logger.warn('cannot release leader lease; it will expire', { cluster, lease: this.#lease.name, error });
    } finally {
      await connection.destroy();
    }
  }

  async #renew(stop: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs, identity } = this.#options;
    while (!stop.aborted) {
      await sleep(clock, retryPeriodMs, stop);
      if (stop.aborted || (await this.#attempt(stop))) continue;
      if (this.#holder !== identity && this.#holder !== '') this.#lose('another process holds the lease');
    }
  }

  async #enforceDeadline(stop: AbortSignal): Promise<void> {
    const { clock, renewDeadlineMs } = this.#options;
    while (!stop.aborted && this.#renewedAt !== undefined) {
      const leftMs = renewDeadlineMs - elapsedMs(clock, this.#renewedAt);
      if (leftMs <= 0) return this.#lose('the lease was not renewed within the renew deadline');
      await sleep(clock, leftMs, stop);
    }
  }

  #lose(reason: string): void {
    if (this.#lost.signal.aborted) return;
    const { cluster, logger } = this.#options;
    logger.error('leader election lost', {
      cluster,
      lease: this.#lease.name,
      leader: printableLine(this.#holder),
      reason,
    });
    this.#lost.abort();
  }

  #untilNextAttemptMs(): number {
    const { clock, retryPeriodMs } = this.#options;
    const untilExpiryMs = this.#validUntil - clock.monotonic();
    const periodMs = Math.min(retryPeriodMs, observeMs);
    return untilExpiryMs > 0 ? Math.min(periodMs, untilExpiryMs) : periodMs;
  }

  /** Acquires or renews the Lease, and returns whether this process holds it now. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { cluster, logger } = this.#options;
    try {
      const holds = await this.#acquireOrRenew(signal);
      this.#failing = false;
      return holds;
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (signal.aborted || error.status === 409) return false;
      // One line per outage.
      logger[this.#failing ? 'debug' : 'error']('cannot acquire or renew leader lease; retrying', {
        cluster,
        lease: this.#lease.name,
        error: error.message,
      });
      this.#failing = true;
      return false;
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDurationMs } = this.#options;
    const sentAt = instant(clock);
    const lease = await this.#read(signal);
    const isOwn = this.#holder === identity || (this.#holder === '' && this.isLeader);
    if (!isOwn && clock.monotonic() < this.#validUntil) return false;
    const body = renewed(lease, { holder: identity, durationMs: leaseDurationMs, now: clock.now() });
    this.#observe(await this.#lease.write(body, this.#request(signal)));
    this.#renewedAt = sentAt;
    return true;
  }

  #request(signal: AbortSignal): LeaseRequest {
    return { signal, timeoutMs: this.#options.renewDeadlineMs / 2 };
  }

  /** The Lease, or a new one if there is none. */
  async #read(signal: AbortSignal): Promise<JsonRecord> {
    const lease = (await this.#lease.read(this.#request(signal)))?.lease ?? newLease(this.#lease.path);
    this.#observe(lease);
    return lease;
  }

  #observe(lease: JsonRecord): void {
    const { clock, logger, identity, cluster, leaseDurationMs } = this.#options;
    const spec = JSON.stringify(lease.spec ?? {});
    if (spec === this.#spec) return;
    this.#spec = spec;
    const { holder, durationMs = 0, acquireTime, isReleased } = leaseRecord(lease);
    if (holder !== '') {
      // An edited Lease may say less than its holder counts on.
      this.#validUntil = clock.monotonic() + Math.max(durationMs, leaseDurationMs);
      this.#acquireTime = acquireTime;
    } else if (isReleased && acquireTime === this.#acquireTime) this.#validUntil = Number.NEGATIVE_INFINITY;
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== '' && holder !== identity) {
      logger.info('new leader elected', { cluster, lease: this.#lease.name, leader: printableLine(holder) });
    }
  }

  #unusable(error: ApiError): ClusterUnavailableError {
    const { cluster } = this.#options;
    if (error.status !== 403)
      return unavailable(`${cluster} for leader election with the Lease ${this.#lease.name}`, error);
    const { namespace, name } = this.#lease.path;
    return new ClusterUnavailableError(
      'forbidden',
      `cannot elect a leader for cluster ${cluster}: ${error.message}; create the Lease ${this.#lease.name}, and grant get and update on leases.coordination.k8s.io "${name}" in the namespace ${namespace}, as infra/kubernetes/rbac.yaml does`,
      error,
    );
  }
}
