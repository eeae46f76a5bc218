import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import { type GroupState, isFencedError, type Leases } from '@sluice/store';
import { assign } from './assign.ts';
import { Handover } from './handover.ts';

/** One scope, held under one lease. */
export interface HeldLease {
  readonly scope: string;
  readonly fencingToken: number;
  /** Aborts when the scope is to be given up, or is lost. */
  readonly signal: AbortSignal;
  /** False once the lease may have run out, also if this process was frozen meanwhile. */
  isCurrent(): boolean;
  /** To be called once the scope is worked on: whoever hands over lets the next ones go then. */
  started(): void;
}

export interface OwnershipOptions {
  readonly leases: Leases;
  readonly group: string;
  /** Unique in the fleet and new with each start of a process. */
  readonly member: string;
  /** All scopes of the group; every member names the same. */
  readonly scopes: readonly string[];
  /** How long a lease lasts that is not renewed, in milliseconds. A take-over after a crash takes about this long. */
  readonly ttlMs: number;
  /** Between heartbeats, in milliseconds; less than half of `ttlMs`. */
  readonly heartbeatMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Works on a scope until the tenure's signal aborts, and resolves when nothing of it goes on. If it ends before, the
   * lease is given back and taken anew, by whoever it falls to, with a new epoch.
   */
  readonly work: (tenure: HeldLease) => Promise<void>;
  /** Told before each heartbeat, whatever comes of it: this goes round while the process is well, also without a store. */
  readonly onHeartbeat?: () => void;
  /** Told after each heartbeat that succeeded, for displays and metrics. */
  readonly onGroup?: (state: GroupState) => void;
}

interface Holding {
  readonly epoch: number;
  readonly stop: AbortController;
  /** The lease has run out or has passed to another: nothing may go on, whatever the lease is now. */
  lost: boolean;
}

interface Failures {
  readonly count: number;
  /** Until when the scope is left to others, by the monotonic clock. */
  readonly until: number;
}

/** A tenure that lasted this long was a good one: the next failure counts as the first. */
const stableWorkMs = 60_000;

/**
 * Keeps this process's share of a group's scopes: takes what falls to it, works on it, hands over what falls to others,
 * and stops at once what it can no longer be sure of.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #holdings = new Map<string, Holding>();
  /** Work has ended; the lease goes back with the next heartbeat. */
  readonly #ended = new Set<string>();
  /** Not started with yet. */
  readonly #starting = new Set<Holding>();
  /** Begun with; the group hears of it with the next heartbeat. */
  readonly #started = new Set<string>();
  readonly #failures = new Map<string, Failures>();
  /** The last epoch under which a scope was worked on here. */
  readonly #epochs = new Map<string, number>();
  readonly #handover: Handover;
  #wake = new AbortController();
  /** Until when the leases last surely, by the monotonic clock. */
  #deadline = Number.NEGATIVE_INFINITY;
  #away = false;
  #leaving = false;
  #wanted: readonly string[] = [];

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#handover = new Handover(options.scopes.length, options.heartbeatMs);
  }

  /** Runs until `signal` aborts and everything is handed over. */
  async run(signal: AbortSignal): Promise<void> {
    const { leases, group, member } = this.#options;
    const unwatch = leases.watch(group, () => this.#wake.abort());
    const stop = () => this.#wake.abort();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        await this.#heartbeat();
        await this.#pause();
      }
      this.#leaving = true;
      this.#wanted = [];
      while (this.#holdings.size > this.#ended.size) {
        // The first one tells the others to take over; what has ended is free for them while the rest goes on.
        await this.#heartbeat();
        if (this.#holdings.size > 0) await this.#pause();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      unwatch();
    }
    try {
      await leases.leave(group, member);
    } catch (error) {
      this.#options.logger.warn('cannot release leases; they will expire', { group, error });
    }
  }

  async #pause(): Promise<void> {
    const { clock, heartbeatMs } = this.#options;
    // A store that is away is not asked faster because there is something to tell it.
    if (this.#away || this.#ended.size === 0) await sleep(clock, heartbeatMs, this.#wake.signal);
    this.#wake = new AbortController();
  }

  async #heartbeat(): Promise<void> {
    const { leases, group, member, ttlMs, clock, logger } = this.#options;
    this.#options.onHeartbeat?.();
    const sentAt = clock.monotonic();
    const [release, started] = [[...this.#ended], [...this.#started]];
    const request = { group, member, ttlMs, release, started, acquire: this.#wanted, leaving: this.#leaving };
    try {
      const state = await leases.heartbeat(request);
      for (const scope of release) {
        this.#ended.delete(scope);
        this.#holdings.delete(scope);
      }
      for (const scope of started) this.#started.delete(scope);
      this.#deadline = sentAt + ttlMs;
      if (this.#away) logger.info('store available again; leases renewed', { group });
      this.#away = false;
      this.#follow(state);
      this.#options.onGroup?.(state);
    } catch (error) {
      if (!this.#away) logger.warn('cannot renew leases; continuing until they expire', { group, error });
      this.#away = true;
      if (!this.#isCurrent()) this.#abandon();
      // Nobody can be told what has ended: nothing is won by going on.
      if (this.#leaving) for (const { stop } of this.#holdings.values()) stop.abort();
    }
  }

  #follow({ members, leases }: GroupState): void {
    const { member, scopes } = this.#options;
    const mine = new Map(
      leases.flatMap(({ scope, holder, fencingToken }) => (holder === member ? [[scope, fencingToken]] : [])),
    );
    for (const [scope, holding] of this.#holdings) {
      // Taken again after a freeze, it has another epoch: what went on under the old one is over.
      if (mine.get(scope) !== holding.epoch) lose(holding);
    }
    if (this.#leaving) return this.#giveUp([...this.#holdings.keys()], members, leases);
    const target = assign(members, scopes, leases);
    for (const [scope, epoch] of mine) {
      const holding = this.#holdings.get(scope);
      if (holding === undefined) {
        // A store that was put back may have it ours again, under an epoch that is over.
        const isNew = epoch > (this.#epochs.get(scope) ?? 0);
        if (isNew && target.get(scope) === member) this.#start(scope, epoch);
        else this.#ended.add(scope);
      }
    }
    const surplus = [...this.#holdings.keys()].filter((scope) => target.get(scope) !== member);
    this.#giveUp(surplus, members, leases);
    const taken = new Set(leases.map(({ scope }) => scope));
    const now = this.#options.clock.monotonic();
    this.#wanted = scopes.filter(
      (scope) => target.get(scope) === member && !mine.has(scope) && (this.#failures.get(scope)?.until ?? now) <= now,
    );
    if (this.#wanted.some((scope) => !taken.has(scope) && !this.#holdings.has(scope))) this.#wake.abort();
  }

  #giveUp(scopes: readonly string[], members: GroupState['members'], leases: GroupState['leases']): void {
    const { member, clock } = this.#options;
    const working = scopes.filter((scope) => this.#holdings.get(scope)?.stop.signal.aborted === false);
    for (const scope of this.#handover.next(working, { member, members, leases }, clock.monotonic())) {
      this.#holdings.get(scope)?.stop.abort();
    }
  }

  #start(scope: string, fencingToken: number): void {
    const holding: Holding = { epoch: fencingToken, stop: new AbortController(), lost: false };
    this.#holdings.set(scope, holding);
    this.#epochs.set(scope, fencingToken);
    const startedAt = this.#options.clock.monotonic();
    const { signal } = holding.stop;
    this.#starting.add(holding);
    const started = () => {
      if (!this.#starting.delete(holding) || signal.aborted) return;
      this.#started.add(scope);
      // Those that were taken together are told of together.
      if (this.#starting.size === 0) this.#wake.abort();
    };
    const ended = () => {
      this.#starting.delete(holding);
      this.#started.delete(scope);
      this.#ended.add(scope);
      this.#wake.abort();
    };
    void this.#options
      .work({ scope, fencingToken, signal, started, isCurrent: () => !holding.lost && this.#isCurrent() })
      .then(() => {
        if (!signal.aborted) this.#failed(scope, startedAt, 'ended by itself');
      })
      .catch((error: unknown) => this.#failed(scope, startedAt, error))
      .finally(ended);
  }

  #failed(scope: string, startedAt: number, error: unknown): void {
    const { clock, random, logger, group, heartbeatMs } = this.#options;
    const now = clock.monotonic();
    const count = now - startedAt > stableWorkMs ? 0 : (this.#failures.get(scope)?.count ?? 0);
    const delayMs = backoffMs({ baseMs: heartbeatMs, maxMs: 30_000 }, count, random);
    this.#failures.set(scope, { count: count + 1, until: now + delayMs });
    const level = isFencedError(error) ? 'warn' : 'error';
    logger[level]('work on a scope ended; its lease is given back', { group, scope, error, delayMs });
  }

  #isCurrent(): boolean {
    return this.#options.clock.monotonic() < this.#deadline;
  }

  #abandon(): void {
    for (const holding of this.#holdings.values()) lose(holding);
  }
}

function lose(holding: Holding): void {
  holding.lost = true;
  holding.stop.abort();
}
