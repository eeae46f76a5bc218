import { backoffMs, type Clock, instant, type Logger, type Random, sleep, suspendedMs } from '@sluice/runtime';
import { type GroupState, isFencedError, type KeepAlive, type Leases } from '@sluice/store';
import { assign } from './assign.ts';
import { Handover } from './handover.ts';
import { Isolation } from './isolation.ts';
import { ranges } from './ranges.ts';
import { scopesToInherit } from './scopes-to-inherit.ts';

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

export interface OwnershipOptions {
  readonly leases: Leases;
  readonly group: string;
  /** Unique in the fleet; a process uses a new name each time it starts. */
  readonly member: string;
  /** All scopes of the group, the same for every member. */
  readonly scopes: readonly string[];
  /** Lease duration without renewal, in milliseconds: the time until others take over after a crash. */
  readonly ttlMs: number;
  /** Time between heartbeats, in milliseconds; less than half of `ttlMs`. */
  readonly heartbeatMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Works on a scope until the lease's signal aborts, and resolves once all work has stopped. If it returns or rejects
   * earlier, the lease is released and acquired again, by any member, with a new fencing token.
   */
  readonly work: (lease: HeldLease) => Promise<void>;
  /** Whether this process reaches the bus, without which no work on a scope advances. Default: always. */
  readonly isConnected?: () => boolean;
  /** Called before each heartbeat, whether or not it succeeds: shows liveness even while the store is unreachable. */
  readonly onHeartbeat?: () => void;
  /**
   * Called at each heartbeat while another member is late, with the scopes that this member acquires if the late one expires.
   * It may still return.
   */
  readonly onLate?: (scopes: readonly string[]) => void;
  /** Called with the group state after each successful heartbeat, for metrics and the console. */
  readonly onGroup?: (state: GroupState) => void;
}

/** Work on a scope that this member has acquired, until its lease is released. */
interface Holding {
  readonly fencingToken: number;
  readonly stop: AbortController;
  /** The lease expired or was reassigned. It stays lost even if this member acquires the scope again. */
  lost: boolean;
}

interface Failures {
  readonly count: number;
  /** Monotonic time before which this member does not acquire the scope again. */
  readonly retryAt: number;
}

/**
 * How long another thread renews the leases while the event loop is blocked, in milliseconds. A blocked process sends
 * nothing, but its partitions stand still.
 */
const maxSilenceMs = 5_000;

/**
 * How long a member waits at startup until the other thread can renew its leases, in milliseconds. A process has its longest
 * pauses while it starts, but one whose thread fails must still work.
 */
const maxStartMs = 5_000;

/** Work that lasted this long resets the backoff: the next failure counts as the first. */
const stableWorkMs = 60_000;

/**
 * Holds this process's share of a group's scopes: acquires the leases assigned to it, works on their scopes, hands over
 * scopes assigned to others, and stops work as soon as a lease may have expired.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #holdings = new Map<string, Holding>();
  /** Scopes whose work has stopped; the next heartbeat releases their leases. */
  readonly #stopped = new Set<string>();
  /** Holdings whose work has not reported its start yet. */
  readonly #starting = new Set<Holding>();
  /** Scopes whose work has started; the next heartbeat reports them. */
  readonly #started = new Set<string>();
  readonly #failures = new Map<string, Failures>();
  /** Highest fencing token under which this member has worked on each scope. */
  readonly #fencingTokens = new Map<string, number>();
  readonly #handover: Handover;
  readonly #isolation = new Isolation();
  /** Monotonic time from which scopes are released whose work has not stopped. */
  #abandonAt = Number.POSITIVE_INFINITY;
  /** Lost scopes whose work has not stopped; the next heartbeat releases their leases. */
  readonly #abandoned = new Set<string>();
  #wake = new AbortController();
  #keepAlive: KeepAlive | undefined;
  /** Monotonic time at which the last acknowledged heartbeat was sent. */
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  /** Wall clock minus monotonic clock when that heartbeat was sent. */
  #wallOffset = Number.NEGATIVE_INFINITY;
  #unreachable = false;
  #leaving = false;
  #toAcquire: readonly string[] = [];
  /** Monotonic time at which another member expires unless it renews. */
  #nextExpiryAt = Number.POSITIVE_INFINITY;
  /** The last known holder of each scope. */
  readonly #holders = new Map<string, string>();

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#handover = new Handover(options.scopes.length, options.heartbeatMs);
  }

  /** Runs until `signal` aborts and all scopes are handed over. */
  async run(signal: AbortSignal): Promise<void> {
    const { leases, group, member, ttlMs, heartbeatMs } = this.#options;
    this.#keepAlive = leases.keepAlive?.({ group, member, ttlMs, periodMs: heartbeatMs, maxSilenceMs });
    const unwatch = leases.watch(group, () => this.#wake.abort());
    const stop = () => this.#wake.abort();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (this.#keepAlive !== undefined) await this.#untilReady(this.#keepAlive, signal);
      while (!signal.aborted) {
        await this.#heartbeat();
        await this.#pause();
      }
      this.#leaving = true;
      this.#toAcquire = [];
      while (this.#holdings.size > this.#stopped.size) {
        // The first heartbeat announces the leave; others acquire stopped scopes while the rest is still worked on.
        await this.#heartbeat();
        // Nothing is left to release, and work that waits for the store is fenced.
        if (this.#unreachable && !this.#isCurrent()) break;
        if (this.#holdings.size > 0) await this.#pause();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      unwatch();
      this.#keepAlive?.stop();
    }
    try {
      await leases.leave(group, member);
    } catch (error) {
      // Reachable: leases not released on leaving
      this.#options.logger.warn('cannot release leases; they will expire', { group, error });
    }
  }

  async #untilReady({ ready }: KeepAlive, signal: AbortSignal): Promise<void> {
    const { clock, group, logger } = this.#options;
    const late = Symbol('late');
    const started = new AbortController();
    const tooLong = sleep(clock, maxStartMs, AbortSignal.any([signal, started.signal])).then(() => late);
    const outcome = await Promise.race([ready, tooLong]);
    started.abort();
    if (outcome !== late || signal.aborted) return;
    logger.warn('lease thread not ready; leases may expire while the event loop is busy', {
      ...{ group, waited: `${maxStartMs}ms` },
    });
  }

  async #pause(): Promise<void> {
    const { clock, heartbeatMs } = this.#options;
    // Pending releases do not speed up heartbeats while the store is unreachable.
    if (this.#unreachable || this.#stopped.size === 0) {
      // A member that has died has missed a heartbeat by now. Its leases are acquired when they expire, not a heartbeat later.
      const untilExpiryMs = this.#unreachable ? heartbeatMs : this.#nextExpiryAt - clock.monotonic();
      await sleep(clock, Math.min(heartbeatMs, Math.max(1, untilExpiryMs)), this.#wake.signal);
    }
    this.#wake = new AbortController();
  }

  async #heartbeat(): Promise<void> {
    const { leases, group, member, ttlMs, clock, logger } = this.#options;
    this.#options.onHeartbeat?.();
    this.#keepAlive?.alive(this.#heartbeatAt);
    this.#hold();
    const { monotonic: sentAt, wallOffset } = instant(clock);
    const [stopped, abandoned, started] = [[...this.#stopped], [...this.#abandoned], [...this.#started]];
    const request = {
      ...{ group, member, ttlMs, started, acquire: this.#toAcquire, release: [...stopped, ...abandoned] },
      ...{ leaving: this.#leaving || this.#isolation.isolated, disconnected: !this.#isConnected() },
    };
    try {
      const state = await leases.heartbeat(request);
      for (const scope of abandoned) this.#abandoned.delete(scope);
      for (const scope of stopped) {
        this.#stopped.delete(scope);
        this.#holdings.delete(scope);
      }
      for (const scope of started) this.#started.delete(scope);
      this.#heartbeatAt = sentAt;
      this.#wallOffset = wallOffset;
      if (this.#unreachable) logger.info('store available again; leases renewed', { group });
      this.#unreachable = false;
      // Rounded up, as the store counts whole milliseconds.
      this.#nextExpiryAt = clock.monotonic() + (state.nextExpiry?.inMs ?? Number.POSITIVE_INFINITY) + 1;
      this.#applyState(state);
      this.#keepAlive?.alive(sentAt);
      this.#hold();
      this.#options.onGroup?.(state);
      const inherited = this.#leaving ? [] : scopesToInherit(state, this.#options);
      if (inherited.length > 0) this.#options.onLate?.(inherited);
    } catch (error) {
      if (!this.#unreachable) logger.warn('cannot renew leases; continuing until they expire', { group, error });
      this.#unreachable = true;
      if (!this.#isCurrent()) {
        // Reachable: leases expire while the store is unreachable
        this.#loseAll();
      }
      // A gradual hand-over needs heartbeats, so a leaving member stops all work at once.
      if (this.#leaving) for (const { stop } of this.#holdings.values()) stop.abort();
    }
  }

  #applyState(state: GroupState): void {
    const { members, leases } = state;
    const { member, scopes } = this.#options;
    const acquired = new Map(
      leases.flatMap(({ scope, holder, fencingToken }) => (holder === member ? [[scope, fencingToken]] : [])),
    );
    const lost: string[] = [];
    for (const [scope, holding] of this.#holdings) {
      // A lease acquired again after a freeze has a new fencing token, and work under the old one must stop.
      if (acquired.get(scope) === holding.fencingToken) continue;
      if (!holding.lost) {
        // Reachable: lease lost
        lost.push(scope);
      }
      lose(holding);
    }
    this.#report('leases lost', lost);
    if (this.#leaving) return this.#handOver([...this.#holdings.keys()], members, leases);
    this.#updateIsolation(state);
    if (this.#isolation.isolated) return this.#releaseAll();
    const target = assign(members, scopes, leases);
    const taken: string[] = [];
    for (const [scope, fencingToken] of acquired) {
      const holding = this.#holdings.get(scope);
      if (holding === undefined) {
        // A store restored from an older state may return a lease that this member has already released.
        const isNew = fencingToken > (this.#fencingTokens.get(scope) ?? 0);
        if (isNew && target.get(scope) === member) {
          this.#start(scope, fencingToken);
          taken.push(scope);
        } else this.#stopped.add(scope);
      }
    }
    this.#report('leases acquired', taken);
    for (const { scope, holder } of leases) this.#holders.set(scope, holder);
    const surplus = [...this.#holdings.keys()].filter((scope) => target.get(scope) !== member);
    this.#handOver(surplus, members, leases);
    const leased = new Set(leases.map(({ scope }) => scope));
    const now = this.#options.clock.monotonic();
    this.#toAcquire = scopes.filter(
      (scope) =>
        target.get(scope) === member && !acquired.has(scope) && (this.#failures.get(scope)?.retryAt ?? now) <= now,
    );
    if (this.#toAcquire.some((scope) => !leased.has(scope) && !this.#holdings.has(scope))) this.#wake.abort();
  }

  /** One line for all scopes of a heartbeat, with their previous holders if known. */
  #report(message: string, scopes: readonly string[]): void {
    if (scopes.length === 0) return;
    const { logger, group, member } = this.#options;
    const from = [...new Set(scopes.map((scope) => this.#holders.get(scope)))].filter(
      (holder) => holder !== undefined && holder !== member,
    );
    const held = [...this.#holdings.values()].filter((holding) => !holding.lost).length;
    logger.info(message, { group, scopes: ranges(scopes), held, ...(from.length > 0 && { from: from.join(',') }) });
  }

  #handOver(scopes: readonly string[], members: GroupState['members'], leases: GroupState['leases']): void {
    const { member, clock } = this.#options;
    const working = scopes.filter((scope) => this.#holdings.get(scope)?.stop.signal.aborted === false);
    for (const scope of this.#handover.next(working, { member, members, leases }, clock.monotonic())) {
      this.#holdings.get(scope)?.stop.abort();
    }
  }

  #isConnected(): boolean {
    return this.#options.isConnected?.() ?? true;
  }

  #updateIsolation({ members, disconnected }: GroupState): void {
    const { member, clock, ttlMs, logger, group } = this.#options;
    const others = members.filter((name) => name !== member && !disconnected.includes(name));
    const connections = { connected: this.#isConnected(), othersConnected: others.length > 0 };
    const now = clock.monotonic();
    if (!this.#isolation.update(connections, now)) return;
    if (this.#isolation.isolated) {
      logger.warn('bus unreachable from here, while other members reach it; releasing leases', {
        group,
        held: this.#holdings.size,
      });
      this.#abandonAt = now + ttlMs;
    } else logger.info('bus reachable again; acquiring leases', { group });
  }

  /** Work that waits for the bus does not stop, so its leases are released without it, as if they had expired. */
  #releaseAll(): void {
    this.#toAcquire = [];
    const abandon = this.#options.clock.monotonic() >= this.#abandonAt;
    for (const [scope, holding] of this.#holdings) {
      holding.stop.abort();
      if (!abandon || holding.lost || this.#stopped.has(scope)) continue;
      lose(holding);
      this.#abandoned.add(scope);
    }
  }

  #start(scope: string, fencingToken: number): void {
    const holding: Holding = { fencingToken, stop: new AbortController(), lost: false };
    this.#holdings.set(scope, holding);
    this.#fencingTokens.set(scope, fencingToken);
    const startedAt = this.#options.clock.monotonic();
    const { signal } = holding.stop;
    this.#starting.add(holding);
    const started = () => {
      if (!this.#starting.delete(holding) || signal.aborted) return;
      this.#started.add(scope);
      // Scopes acquired together are reported together.
      if (this.#starting.size === 0) this.#wake.abort();
    };
    const stopped = () => {
      this.#starting.delete(holding);
      this.#started.delete(scope);
      this.#stopped.add(scope);
      this.#wake.abort();
    };
    void this.#options
      .work({ scope, fencingToken, signal, started, isCurrent: () => !holding.lost && this.#isCurrent() })
      .then(() => {
        if (!signal.aborted) this.#failed(scope, startedAt, new Error('work returned before its lease was released'));
      })
      .catch((error: unknown) => this.#failed(scope, startedAt, error))
      .finally(stopped);
  }

  #failed(scope: string, startedAt: number, error: unknown): void {
    const { clock, random, logger, group, heartbeatMs } = this.#options;
    const now = clock.monotonic();
    const count = now - startedAt > stableWorkMs ? 0 : (this.#failures.get(scope)?.count ?? 0);
    const delayMs = backoffMs({ baseMs: heartbeatMs, maxMs: 30_000 }, count, random);
    this.#failures.set(scope, { count: count + 1, retryAt: now + delayMs });
    const level = isFencedError(error) ? 'warn' : 'error';
    logger[level]('work on scope failed; releasing its lease', { group, scope, error, delayMs });
  }

  #isCurrent(): boolean {
    const { clock, ttlMs } = this.#options;
    const renewedAt = Math.max(this.#heartbeatAt, this.#keepAlive?.renewedAt ?? Number.NEGATIVE_INFINITY);
    // If the wall clock was set forward instead, the lease counts as expired until the next heartbeat.
    return clock.monotonic() + suspendedMs(clock, this.#wallOffset) < renewedAt + ttlMs;
  }

  /** Has the leases renewed under which this member works; not those that it is about to release. */
  #hold(): void {
    if (this.#keepAlive === undefined) return;
    const working = [...this.#holdings].filter(([scope, { lost }]) => !lost && !this.#stopped.has(scope));
    this.#keepAlive.hold(new Map(working.map(([scope, { fencingToken }]) => [scope, fencingToken])));
  }

  #loseAll(): void {
    for (const holding of this.#holdings.values()) lose(holding);
  }
}

function lose(holding: Holding): void {
  holding.lost = true;
  holding.stop.abort();
}
