import { aborted, instant, sleep, suspendedMs, untilNextTick } from '@sluice/platform';
import { forAllScopes, type GroupState, type KeepAlive, type Leases } from '@sluice/store';
import { assign, concerns, scopesToInherit } from './assign.ts';
import { Handover, leasesToReceive } from './handover.ts';
import { Holdings, type HoldingsOptions } from './holdings.ts';
import { ranges } from './partition-logger.ts';
import { Preparations } from './preparations.ts';
import { giveUpMs, Progress } from './progress.ts';
import { ServedScopes } from './served-scopes.ts';

export interface OwnershipOptions extends Pick<HoldingsOptions, 'clock' | 'random' | 'logger' | 'work' | 'nameOf'> {
  readonly leases: Leases;
  readonly group: string;
  /** Unique in the fleet; a process uses a new name each time it starts. */
  readonly member: string;
  /**
   * All scopes of the group, the same for every member. Undefined: members may serve different scopes, those that are passed
   * to `serve`.
   */
  readonly scopes?: readonly string[] | undefined;
  /** Lease duration without renewal, in milliseconds: the time until others take over after a crash. */
  readonly ttlMs: number;
  /** Time between heartbeats, in milliseconds; less than half of `ttlMs`. */
  readonly heartbeatMs: number;
  /**
   * How long a member that hands over waits for another one to prepare and start its scopes before it continues with the next
   * ones, in milliseconds. Default: a heartbeat.
   */
  readonly handoverMs?: number | undefined;
  /**
   * Scopes, held or not, on which this process makes no progress now, and missing dependencies of all scopes, marked by
   * `forAllScopes`. Read at each heartbeat. Default: nothing.
   */
  readonly stalled?: () => Iterable<string>;
  /** Called before each heartbeat, whether or not it succeeds: shows liveness even while the store is unreachable. */
  readonly onHeartbeat?: () => void;
  /**
   * Called at each heartbeat for a scope that this member probably acquires soon: its holder hands it over, or is late and may
   * still return. Resolves once work could start at once; a member that hands the scope over works on it until then. Default:
   * there is nothing to prepare.
   */
  readonly prepare?: (scope: string) => Promise<void>;
  /** Called with the group state after each successful heartbeat, for metrics and the console. */
  readonly onGroup?: (state: GroupState) => void;
}

/**
 * How long another thread renews the leases while the event loop is blocked, in milliseconds: the lease duration of
 * kube-controller-manager. A blocked process sends nothing, but its partitions stand still.
 */
const maxSilenceMs = 15_000;

/**
 * How long a member waits at startup until the other thread can renew its leases, in milliseconds. A process has its longest
 * pauses while it starts, but one whose thread fails must still work.
 */
const maxStartMs = 5_000;

/**
 * Holds this process's share of a group's scopes: acquires the leases assigned to it, works on their scopes, hands over
 * scopes assigned to others, and stops work as soon as a lease may have expired. One heartbeat serves all scopes, and costs
 * the same for any number of them while nothing changes.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #holdings: Holdings;
  readonly #handover: Handover;
  readonly #preparations: Preparations;
  readonly #progress: Progress;
  readonly #served: ServedScopes | undefined;
  /** Monotonic time at which the store last failed to renew the leases before they expired. */
  #expiredAt = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();
  #keepAlive: KeepAlive | undefined;
  /** Revision of the holdings that the other thread renews. */
  #kept: number | undefined;
  /** Monotonic time at which the last acknowledged heartbeat was sent. */
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  /** Wall clock minus monotonic clock when that heartbeat was sent. */
  #wallOffset = Number.NEGATIVE_INFINITY;
  #unreachable = false;
  #leaving = false;
  #toAcquire: readonly string[] = [];
  /** Version of the group and of its own scopes at which this member needs no change. */
  #settled: string | undefined;
  /** Monotonic time at which another member expires unless it renews. */
  #nextExpiryAt = Number.POSITIVE_INFINITY;
  /** The last known holder of each scope. */
  #holders: ReadonlyMap<string, string> = new Map();

  constructor(options: OwnershipOptions) {
    this.#options = options;
    const { member, heartbeatMs, handoverMs = heartbeatMs, scopes, clock } = options;
    this.#progress = new Progress(member);
    this.#holdings = new Holdings({
      ...options,
      retryMs: heartbeatMs,
      progress: this.#progress,
      isCurrent: () => this.#isCurrent(),
      onPending: () => this.#wake.abort(),
    });
    this.#handover = new Handover(handoverMs);
    this.#preparations = new Preparations(
      (scope) => this.#prepare(scope),
      () => this.#wake.abort(),
    );
    if (scopes === undefined) this.#served = new ServedScopes(clock, () => this.#wake.abort());
  }

  /**
   * Takes part in a scope until `signal` aborts. Resolves once work on it has stopped and its lease is released or has expired,
   * or `run` has ended.
   */
  async serve(scope: string, signal: AbortSignal): Promise<void> {
    if (this.#served === undefined) throw new TypeError('the scopes of this group are fixed');
    this.#served.add(scope);
    await aborted(signal);
    this.#served.remove(scope);
    this.#holdings.stop(scope);
    while (!this.#holdings.isFree(scope) && !this.#served.ended) await this.#served.changed();
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
      this.#preparations.update([]);
      while (this.#holdings.isWorking) {
        // The first heartbeat announces the leave; others acquire stopped scopes while the rest is still worked on.
        await this.#heartbeat();
        // Nothing is left to release, and work that waits for the store is fenced.
        if (this.#unreachable && !this.#isCurrent()) break;
        if (this.#holdings.scopes.length > 0) await this.#pause();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      unwatch();
      this.#keepAlive?.stop();
      this.#served?.end();
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
      group,
      waited: `${maxStartMs}ms`,
    });
  }

  async #pause(): Promise<void> {
    const { clock, heartbeatMs } = this.#options;
    // Pending releases do not speed up heartbeats while the store is unreachable.
    if (this.#unreachable || !this.#holdings.hasStopped) {
      // A member that has died has missed a heartbeat by now. Its leases are acquired when they expire, not a heartbeat later.
      const untilExpiryMs = this.#unreachable ? heartbeatMs : this.#nextExpiryAt - clock.monotonic();
      // All groups of a process send their heartbeats in one turn, so process and store wake once for all.
      await sleep(clock, Math.min(untilNextTick(clock, heartbeatMs), Math.max(1, untilExpiryMs)), this.#wake.signal);
    }
    this.#wake = new AbortController();
  }

  async #heartbeat(): Promise<void> {
    const { leases, group, member, ttlMs, clock, logger } = this.#options;
    this.#options.onHeartbeat?.();
    this.#hold();
    const { monotonic: sentAt, wallOffset } = instant(clock);
    const pending = this.#holdings.pending;
    const prepared = this.#preparations.pending;
    const request = {
      group,
      member,
      ttlMs,
      acquire: this.#toAcquire,
      serves: this.#served?.sent(),
      started: pending.started,
      prepared,
      release: [...pending.stopped, ...pending.abandoned],
      leaving: this.#leaving,
      stalled: this.#progress.report(this.#stalled(sentAt), sentAt),
    };
    try {
      const state = await leases.heartbeat(request);
      this.#holdings.reported(pending);
      this.#preparations.reported(prepared);
      this.#heartbeatAt = sentAt;
      this.#wallOffset = wallOffset;
      if (this.#unreachable) logger.info('store available again; leases renewed', { group });
      this.#unreachable = false;
      if (state.unreadable !== undefined)
        logger.error('removed unreadable entries of the lease group', { group, entries: state.unreadable });
      // Rounded up, as the store counts whole milliseconds.
      this.#nextExpiryAt = clock.monotonic() + (state.nextExpiry?.inMs ?? Number.POSITIVE_INFINITY) + 1;
      if (this.#settled === undefined || this.#settled !== this.#nameOf(state)) this.#applyState(state);
      this.#keepAlive?.alive(sentAt);
      this.#hold();
      this.#options.onGroup?.(state);
      const inherited = this.#leaving ? [] : scopesToInherit(state, { member, ttlMs, scopes: this.#fixed });
      for (const scope of inherited) void this.#prepare(scope);
      if (pending.stopped.length > 0) this.#served?.released();
    } catch (error) {
      if (!this.#unreachable) logger.warn('cannot renew leases; continuing until they expire', { group, error });
      this.#unreachable = true;
      // If only the answer is lost, this member would acquire scopes without knowing it, and nobody would work on them.
      this.#toAcquire = [];
      this.#settled = undefined;
      if (!this.#isCurrent()) {
        this.#expiredAt = clock.monotonic();
        // Reachable: leases expire while the store is unreachable
        this.#holdings.loseAll();
      }
      // A gradual hand-over needs heartbeats, so a leaving member stops all work at once.
      if (this.#leaving) this.#holdings.stopAll();
      this.#served?.released();
    }
  }

  /** Everything on which the work of a member depends that has nothing to do. Undefined: it may have something to do. */
  #nameOf({ version }: GroupState): string | undefined {
    if (version === undefined || this.#leaving || this.#progress.isWaiting) return undefined;
    return `${version} ${this.#holdings.revision} ${this.#served?.revision}`;
  }

  get #fixed(): readonly string[] {
    return this.#options.scopes ?? [];
  }

  #applyState(read: GroupState): void {
    const { leases } = read;
    const { member, clock } = this.#options;
    const state = this.#progress.merge(read, clock.monotonic());
    const acquired = new Map(
      leases.flatMap(({ scope, holder, fencingToken }) => (holder === member ? [[scope, fencingToken]] : [])),
    );
    this.#report('leases lost', this.#holdings.loseOthers(acquired));
    const target = assign(state, this.#fixed);
    const isMine = (scope: string) => target.get(scope) === member && (this.#served?.has(scope) ?? true);
    if (this.#leaving) return this.#giveUpOrHandOver(this.#holdings.scopes, state, target);
    const taken: string[] = [];
    for (const [scope, fencingToken] of acquired) {
      if (this.#holdings.has(scope)) continue;
      // A store restored from an older state may return a lease that this member has already released.
      if (this.#holdings.isNew(scope, fencingToken) && isMine(scope)) {
        this.#holdings.start(scope, fencingToken);
        taken.push(scope);
      } else this.#holdings.refuse(scope);
    }
    this.#report('leases acquired', taken);
    const holders = new Map(leases.map(({ scope, holder }) => [scope, holder]));
    // A scope that nobody holds is taken from the last one who did.
    this.#holders = new Map([...this.#holders, ...holders]);
    const surplus = this.#holdings.scopes.filter((scope) => !isMine(scope));
    this.#giveUpOrHandOver(surplus, state, target);
    const free = [...target].filter(([scope, name]) => name !== member && !holders.has(scope));
    this.#leaveOut(this.#progress.observe(new Map(free), clock.monotonic()));
    const missing = [...target.keys()].filter((scope) => isMine(scope) && !acquired.has(scope));
    if (this.#options.prepare !== undefined) {
      this.#preparations.update(leasesToReceive(leases, target, member).filter(({ scope }) => isMine(scope)));
    }
    this.#toAcquire = missing.filter((scope) => this.#holdings.mayRetry(scope));
    if (this.#toAcquire.some((scope) => !holders.has(scope) && !this.#holdings.has(scope))) this.#wake.abort();
    this.#settled = surplus.length + missing.length + free.length === 0 ? this.#nameOf(state) : undefined;
  }

  /** One line for all scopes of a heartbeat, with their previous holders if known. */
  #report(message: string, scopes: readonly string[]): void {
    if (scopes.length === 0) return;
    const { logger, group, member, nameOf = (scope) => scope } = this.#options;
    const from = [...new Set(scopes.map((scope) => this.#holders.get(scope)))].filter(
      (holder) => holder !== undefined && holder !== member,
    );
    const fields = { group, scopes: ranges(scopes.map(nameOf)), held: this.#holdings.size };
    logger.info(message, { ...fields, ...(from.length > 0 && { from: from.join(',') }) });
  }

  #giveUpOrHandOver(surplus: readonly string[], state: GroupState, target: ReadonlyMap<string, string>): void {
    const stalled = surplus.filter((scope) => this.#progress.isStalled(scope));
    const others = surplus.filter((scope) => !stalled.includes(scope));
    this.#giveUp(stalled, state, target);
    this.#handOver(others, state, target);
  }

  #handOver(scopes: readonly string[], { leases }: GroupState, target: ReadonlyMap<string, string>): void {
    if (scopes.length === 0) return;
    const { member, clock } = this.#options;
    const working = scopes.filter((scope) => this.#holdings.worksOn(scope));
    const isWanted = (scope: string) => (target.get(scope) ?? member) !== member;
    const preparedBy = new Map(leases.map(({ scope, preparedBy }) => [scope, preparedBy]));
    const isPrepared = (scope: string) =>
      this.#options.prepare === undefined || preparedBy.get(scope) === target.get(scope);
    const group = { member, scopes: target.size, leases, isWanted, isPrepared };
    for (const scope of this.#handover.next(working, group, clock.monotonic())) this.#holdings.stop(scope);
  }

  async #prepare(scope: string): Promise<void> {
    await this.#options.prepare?.(scope);
  }

  #stalled(now: number): readonly string[] {
    const { stalled = () => [] } = this.#options;
    // Its heartbeats may reach the store, so that it keeps its share and works on nothing.
    const store = now - this.#expiredAt < giveUpMs ? [`${forAllScopes}store`] : [];
    const reasons = [...stalled(), ...store];
    const isExcused = (scope: string) => reasons.some((reason) => concerns(reason, scope));
    return [...reasons, ...this.#holdings.failing, ...this.#holdings.notStarted(isExcused)];
  }

  /** Work that waits for what does not answer does not stop, so its leases are released without it, as if they had expired. */
  #giveUp(scopes: readonly string[], state: GroupState, target: ReadonlyMap<string, string>): void {
    const { clock, ttlMs, logger, group, nameOf = (scope) => scope } = this.#options;
    const { stop, abandon } = this.#progress.giveUp(scopes, state, { target, stopMs: ttlMs, now: clock.monotonic() });
    for (const scope of stop) this.#holdings.stop(scope);
    for (const scope of abandon) this.#holdings.abandon(scope);
    if (stop.length === 0) return;
    const { shared } = this.#progress;
    logger.warn('no progress here; releasing leases to members that can work', {
      group,
      scopes: ranges(stop.map(nameOf)),
      ...(shared.length > 0 && { reasons: shared.join(', ') }),
    });
  }

  #leaveOut(late: readonly string[]): void {
    const { logger, group, nameOf = (scope) => scope } = this.#options;
    if (late.length === 0) return;
    logger.warn('scopes not acquired in time; other members take them', { group, scopes: ranges(late.map(nameOf)) });
  }

  #isCurrent(): boolean {
    const { clock, ttlMs } = this.#options;
    const renewedAt = Math.max(this.#heartbeatAt, this.#keepAlive?.renewedAt ?? Number.NEGATIVE_INFINITY);
    // If the wall clock was set forward instead, the lease counts as expired until the next heartbeat.
    return clock.monotonic() + suspendedMs(clock, this.#wallOffset) < renewedAt + ttlMs;
  }

  /** Has the leases renewed under which this member works. */
  #hold(): void {
    const { revision } = this.#holdings;
    if (this.#keepAlive === undefined || this.#kept === revision) return;
    this.#kept = revision;
    this.#keepAlive.hold(this.#holdings.leases);
  }
}
