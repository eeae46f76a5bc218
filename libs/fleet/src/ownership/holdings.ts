import { backoffMs, type Clock, type Logger, type Random } from '@sluice/platform';
import { isFencedError } from '@sluice/store';
import { failedWorkMs, lateStartMs, type Progress } from './progress.ts';

/** A scope that this process holds under one lease, from its acquisition until it is released or lost. */
export interface HeldLease {
  readonly scope: string;
  readonly fencingToken: number;
  /** Aborts when the lease must be released or is lost. */
  readonly signal: AbortSignal;
  /** False once the lease may have expired, even if this process was frozen in the meantime. */
  isCurrent(): boolean;
  /** Reports that work on the scope has started. A member that hands over releases its next scopes then. */
  started(): void;
}

export interface HoldingsOptions {
  readonly group: string;
  readonly member: string;
  /** Delay before a scope whose work has failed is acquired again, in milliseconds; doubles with each failure. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Name of a scope in logs. Default: the scope. */
  readonly nameOf?: (scope: string) => string;
  /**
   * Works on a scope until the lease's signal aborts, and resolves once all work has stopped. If it returns or rejects
   * earlier, the lease is released and acquired again, by any member, with a new fencing token.
   */
  readonly work: (lease: HeldLease) => Promise<void>;
  /** Whether the leases of this member are valid now. */
  readonly isCurrent: () => boolean;
  readonly progress: Pick<Progress, 'leave' | 'started'>;
  /** Called when there is something to report with a heartbeat at once. */
  readonly onPending: () => void;
}

/** Work on a scope that this member has acquired, until its lease is released. */
interface Holding {
  readonly scope: string;
  readonly fencingToken: number;
  /** Monotonic time since which its work could start. */
  since: number;
  readonly stop: AbortController;
  /** The lease expired or was reassigned. It stays lost even if this member acquires the scope again. */
  lost: boolean;
}

interface Failures {
  readonly count: number;
  /** Monotonic time before which this member does not acquire the scope again. */
  readonly retryAt: number;
}

/** What the next heartbeat reports. */
interface PendingReport {
  /** Scopes whose work has stopped, and restored leases on which nobody works. */
  readonly stopped: readonly string[];
  /** Lost scopes whose work has not stopped. */
  readonly abandoned: readonly string[];
  readonly started: readonly string[];
}

/** Work that lasted this long resets the backoff: the next failure counts as the first. */
const stableWorkMs = 60_000;

/** A member that tries failed work again within this time, in milliseconds, keeps the scope for it. */
const soonMs = 1_000;

/** Failures in a row after which a member leaves the scope to others. */
const maxFailures = 3;

/** A member on which work has not started within this time leaves the scope to others, in milliseconds. */
export const startWithinMs = 120_000;

/** The scopes on which this member works, and what its next heartbeat reports about them. */
export class Holdings {
  readonly #options: HoldingsOptions;
  readonly #holdings = new Map<string, Holding>();
  /** Scopes whose work has stopped; the next heartbeat releases their leases. */
  readonly #stopped = new Set<string>();
  /** Holdings whose work has not reported its start yet. */
  readonly #starting = new Set<Holding>();
  /** Scopes whose work has started; the next heartbeat reports them. */
  readonly #started = new Set<string>();
  /** Lost scopes whose work has not stopped; the next heartbeat releases their leases. */
  readonly #abandoned = new Set<string>();
  readonly #failures = new Map<string, Failures>();
  /** Highest fencing token under which this member has worked on each scope. */
  readonly #fencingTokens = new Map<string, number>();
  #revision = 0;

  constructor(options: HoldingsOptions) {
    this.#options = options;
  }

  /** Increases when a scope is added, lost, stopped or released. */
  get revision(): number {
    return this.#revision;
  }

  /** Number of scopes that are not lost. */
  get size(): number {
    return [...this.#holdings.values()].filter(({ lost }) => !lost).length;
  }

  /** Whether there are leases to release whose work has stopped. */
  get hasStopped(): boolean {
    return this.#stopped.size > 0;
  }

  /** Whether work on any scope has not stopped. */
  get isWorking(): boolean {
    return this.#holdings.size > this.#stopped.size;
  }

  get scopes(): readonly string[] {
    return [...this.#holdings.keys()];
  }

  has(scope: string): boolean {
    return this.#holdings.has(scope);
  }

  /** Whether all work here on the scope has stopped, although this member may still hold its lease. */
  isFree(scope: string): boolean {
    const holding = this.#holdings.get(scope);
    return holding === undefined || (holding.lost && this.#stopped.has(scope));
  }

  /** Whether work on the scope continues, and was not stopped. */
  worksOn(scope: string): boolean {
    return this.#holdings.get(scope)?.stop.signal.aborted === false;
  }

  /** The leases under which this member works; not those that it is about to release. */
  get leases(): ReadonlyMap<string, number> {
    const working = [...this.#holdings].filter(([scope, { lost }]) => !lost && !this.#stopped.has(scope));
    return new Map(working.map(([scope, { fencingToken }]) => [scope, fencingToken]));
  }

  get pending(): PendingReport {
    return { stopped: [...this.#stopped], abandoned: [...this.#abandoned], started: [...this.#started] };
  }

  /** Forgets what a heartbeat has reported. */
  reported({ stopped, abandoned, started }: PendingReport): void {
    for (const scope of abandoned) this.#abandoned.delete(scope);
    for (const scope of stopped) {
      this.#stopped.delete(scope);
      this.#holdings.delete(scope);
    }
    for (const scope of started) this.#started.delete(scope);
    if (stopped.length > 0) this.#revision++;
  }

  /** Whether the work on the scope, if it has failed, may be tried again. */
  mayRetry(scope: string): boolean {
    const { retryAt } = this.#failures.get(scope) ?? {};
    return retryAt === undefined || retryAt <= this.#options.clock.monotonic();
  }

  /** Scopes on which failed work is not tried again soon, or on which it has not stopped although their leases are lost. */
  get failing(): readonly string[] {
    const soon = this.#options.clock.monotonic() + soonMs;
    const failing = [...this.#failures].flatMap(([scope, { retryAt }]) => (retryAt > soon ? [scope] : []));
    const stuck = [...this.#holdings].flatMap(([scope, { lost }]) =>
      lost && !this.#stopped.has(scope) ? [scope] : [],
    );
    return [...failing, ...stuck];
  }

  /** Scopes on which work has not started in time. No time passes while the member reports another reason for that. */
  notStarted(isExcused: (scope: string) => boolean): readonly string[] {
    for (const holding of this.#starting) if (isExcused(holding.scope)) holding.since = this.#options.clock.monotonic();
    return [...this.#starting].flatMap((holding) => (this.#isLate(holding) ? [holding.scope] : []));
  }

  /** Whether this lease is newer than those under which this member has worked on the scope. */
  isNew(scope: string, fencingToken: number): boolean {
    return fencingToken > (this.#fencingTokens.get(scope) ?? 0);
  }

  start(scope: string, fencingToken: number): void {
    const { clock, member, progress } = this.#options;
    const startedAt = clock.monotonic();
    const holding: Holding = { scope, fencingToken, since: startedAt, stop: new AbortController(), lost: false };
    this.#holdings.set(scope, holding);
    this.#revision++;
    this.#fencingTokens.set(scope, fencingToken);
    const { signal } = holding.stop;
    this.#starting.add(holding);
    const started = () => {
      if (!this.#starting.delete(holding) || signal.aborted) return;
      this.#started.add(scope);
      progress.started(member, scope);
      // Scopes acquired together are reported together.
      if (this.#starting.size === 0) this.#options.onPending();
    };
    const stopped = () => {
      const now = clock.monotonic();
      if (this.#starting.delete(holding) && this.#isLate(holding)) progress.leave(member, scope, lateStartMs, now);
      this.#started.delete(scope);
      this.#release(scope);
      this.#options.onPending();
    };
    void this.#options
      .work({ scope, fencingToken, signal, started, isCurrent: () => !holding.lost && this.#options.isCurrent() })
      .then(() => {
        if (!signal.aborted) this.#failed(scope, startedAt, new Error('work returned before its lease was released'));
      })
      .catch((error: unknown) => this.#failed(scope, startedAt, error))
      .finally(stopped);
  }

  stop(scope: string): void {
    this.#holdings.get(scope)?.stop.abort();
  }

  /** Releases a lease on whose scope this member does not work. */
  refuse(scope: string): void {
    this.#release(scope);
  }

  /** Stops work on scopes whose leases are not `acquired` any more. Returns those that were not known to be lost. */
  loseOthers(acquired: ReadonlyMap<string, number>): readonly string[] {
    const lost: string[] = [];
    for (const [scope, holding] of this.#holdings) {
      // A lease acquired again after a freeze has a new fencing token, and work under the old one must stop.
      if (acquired.get(scope) === holding.fencingToken) continue;
      if (!holding.lost) {
        // Reachable: lease lost
        lost.push(scope);
      }
      this.#lose(holding);
    }
    return lost;
  }

  loseAll(): void {
    for (const holding of this.#holdings.values()) this.#lose(holding);
  }

  stopAll(): void {
    for (const { stop } of this.#holdings.values()) stop.abort();
  }

  /** Releases a lease without waiting until its work has stopped, as if it had expired. */
  abandon(scope: string): void {
    const holding = this.#holdings.get(scope);
    if (holding === undefined || holding.lost || this.#stopped.has(scope)) return;
    this.#lose(holding);
    this.#abandoned.add(scope);
    this.#options.onPending();
  }

  #release(scope: string): void {
    this.#stopped.add(scope);
    this.#revision++;
  }

  #lose(holding: Holding): void {
    if (!holding.lost) this.#revision++;
    holding.lost = true;
    holding.stop.abort();
  }

  #isLate({ since }: Holding): boolean {
    return this.#options.clock.monotonic() - since >= startWithinMs;
  }

  #failed(scope: string, startedAt: number, error: unknown): void {
    const { clock, random, logger, group, member, retryMs, progress, nameOf = (scope) => scope } = this.#options;
    const now = clock.monotonic();
    const count = now - startedAt > stableWorkMs ? 0 : (this.#failures.get(scope)?.count ?? 0);
    const delayMs = backoffMs({ baseMs: retryMs, maxMs: 30_000 }, count, random);
    this.#failures.set(scope, { count: count + 1, retryAt: now + delayMs });
    if (count + 1 >= maxFailures && !isFencedError(error))
      progress.leave(member, scope, failedWorkMs, now, count + 1 - maxFailures);
    const level = isFencedError(error) ? 'warn' : 'error';
    logger[level]('work on scope failed; releasing its lease', { group, scope: nameOf(scope), error, delayMs });
  }
}
