import { forAllScopes, type GroupState } from '@sluice/store';
import { concerns, countReasons } from './assign.ts';

/**
 * How long a member without progress waits for it while others could work, in milliseconds. When the bus or a cluster fails
 * for all members, they notice it at different times, and when it is back they reach it at different times.
 */
export const giveUpMs = 2_000;

/** How long a member that has given scopes up must be able to work before it gets some again, in milliseconds. */
export const provenMs = 5_000;

/** A member that has not acquired a free scope within this time cannot work on it, in milliseconds. */
const acquireWithinMs = 3_000;

/**
 * For how long a member leaves a scope to others, in milliseconds: twice as long each time, because only another attempt can show that it
 * works there. The others need more time than a late start had if the work only takes long.
 */
export const failedWorkMs = 60_000;
export const lateStartMs = 1_200_000;
const lateAcquisitionMs = 60_000;
const maxMs = 3_600_000;

/** A scope that a member leaves to others. */
interface Left {
  readonly until: number;
  /** How often in a row. */
  readonly times: number;
}

/** What this member reports about itself. */
interface Stall {
  /** Monotonic time at which it was last observed. */
  lastAt: number;
  /** A scope was given up for it. */
  gaveUp: boolean;
}

/**
 * Which members make no progress on which scopes. Each member reports its own reasons with its heartbeats. Of a member that says nothing
 * and does not acquire what is its own, because the answers of the store do not reach it for example, the others learn it on their own.
 * It follows which scopes this member gives up (ADR 0081).
 */
export class Progress {
  readonly #member: string;
  /** By member, this one included, and scope. */
  readonly #left = new Map<string, Map<string, Left>>();
  /** By free scope: the member that is to acquire it, and since when. */
  readonly #waiting = new Map<string, { readonly member: string; readonly since: number }>();
  readonly #stalls = new Map<string, Stall>();
  /** By scope: since when another member is preferred, and when the scope was given up. */
  readonly #surrenders = new Map<string, { readonly since: number; at?: number }>();

  constructor(member: string) {
    this.#member = member;
  }

  /** Whether time alone may change what is known about other members. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0 || this.#left.keys().some((member) => member !== this.#member);
  }

  /** The member leaves the scope to others. `times`: how often it did so before; default: since its work last started. */
  leave(
    member: string,
    scope: string,
    forMs: number,
    now: number,
    times = this.#left.get(member)?.get(scope)?.times ?? 0,
  ): void {
    const scopes = this.#left.get(member) ?? new Map<string, Left>();
    this.#left.set(member, scopes.set(scope, { until: now + Math.min(maxMs, forMs * 2 ** times), times: times + 1 }));
  }

  started(member: string, scope: string): void {
    this.#left.get(member)?.delete(scope);
  }

  /** What to report, from what is `observed` now. */
  report(observed: Iterable<string>, now: number): readonly string[] {
    for (const name of [...observed, ...this.#leftBy(this.#member, now)]) {
      const stall = this.#stalls.get(name);
      if (stall === undefined) this.#stalls.set(name, { lastAt: now, gaveUp: false });
      else stall.lastAt = now;
    }
    for (const [name, { lastAt, gaveUp }] of this.#stalls) {
      if (gaveUp ? now - lastAt >= provenMs : lastAt < now) this.#stalls.delete(name);
    }
    return [...this.#stalls.keys()].sort();
  }

  /** The group as this member knows it: with the reasons of members that say nothing. */
  merge(state: GroupState, now: number): GroupState {
    for (const { scope, holder, started } of state.leases) {
      if (started && holder !== this.#member) this.started(holder, scope);
    }
    let { stalled } = state;
    for (const [member, { size }] of this.#left) {
      if (member === this.#member) continue;
      if (size === 0 || !state.members.includes(member)) this.#left.delete(member);
      const left = this.#leftBy(member, now);
      if (left.length > 0) stalled = new Map(stalled).set(member, [...(stalled?.get(member) ?? []), ...left]);
    }
    return stalled === state.stalled ? state : { ...state, stalled };
  }

  /** `free`: the scopes that nobody holds, and that other members are to acquire. Returns those that are late now. */
  observe(free: ReadonlyMap<string, string>, now: number): readonly string[] {
    for (const [scope, { member }] of this.#waiting) if (free.get(scope) !== member) this.#waiting.delete(scope);
    const late: string[] = [];
    for (const [scope, member] of free) {
      const waiting = this.#waiting.get(scope) ?? { member, since: now };
      this.#waiting.set(scope, waiting);
      if (now - waiting.since < acquireWithinMs) continue;
      this.#waiting.delete(scope);
      this.leave(member, scope, lateAcquisitionMs, now);
      late.push(scope);
    }
    return late;
  }

  /** Whether this member has a reason to make no progress on the scope. */
  isStalled(scope: string): boolean {
    return this.#stalls.size > 0 && this.#stalls.keys().some((name) => concerns(name, scope));
  }

  /** What all scopes need and lack. */
  get shared(): readonly string[] {
    return [...this.#stalls.keys()].flatMap((name) =>
      name.startsWith(forAllScopes) ? [name.slice(forAllScopes.length)] : [],
    );
  }

  /**
   * `scopes`: those that this member holds without progress, and that are to go to others. Returns those to give up now, and those to
   * release although work on them has not stopped `stopMs` later: it may wait for what does not answer.
   */
  giveUp(
    scopes: readonly string[],
    { stalled }: Pick<GroupState, 'stalled'>,
    { target, stopMs, now }: { target: ReadonlyMap<string, string>; stopMs: number; now: number },
  ): { stop: readonly string[]; abandon: readonly string[] } {
    if (scopes.length === 0 && this.#surrenders.size === 0) return { stop: [], abandon: [] };
    for (const scope of this.#surrenders.keys()) if (!scopes.includes(scope)) this.#surrenders.delete(scope);
    // Otherwise it only moves to its fair share.
    const isBehind = (scope: string) => {
      const [own, others] = [this.#member, target.get(scope) ?? this.#member];
      return countReasons(stalled, others, scope) < countReasons(stalled, own, scope);
    };
    const [stop, abandon]: [string[], string[]] = [[], []];
    for (const scope of scopes) {
      const surrender = this.#surrenders.get(scope) ?? { since: now };
      this.#surrenders.set(scope, surrender);
      if (surrender.at === undefined && now - surrender.since >= giveUpMs) {
        surrender.at = now;
        stop.push(scope);
        for (const [name, stall] of this.#stalls) if (concerns(name, scope) && isBehind(scope)) stall.gaveUp = true;
      }
      if (surrender.at !== undefined && now - surrender.at >= stopMs) abandon.push(scope);
    }
    return { stop, abandon };
  }

  #leftBy(member: string, now: number): readonly string[] {
    return [...(this.#left.get(member) ?? [])].flatMap(([scope, { until }]) => (until > now ? [scope] : []));
  }
}
