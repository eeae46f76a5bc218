import type { GroupState } from '@sluice/store';

/** A member that has not acquired a free scope within this time cannot work on it, in milliseconds. */
export const acquireWithinMs = 3_000;

/** For how long, in milliseconds; doubles each time. */
const unableMs = { first: 60_000, max: 3_600_000 };

interface Late {
  readonly until: number;
  readonly times: number;
}

/**
 * Other members that do not acquire scopes that are theirs: their heartbeats arrive, but the answers do not, for example. They
 * cannot report it, so each member learns it on its own.
 */
export class LateTargets {
  /** By scope: the member that is to acquire it, and since when. */
  readonly #waiting = new Map<string, { readonly member: string; readonly since: number }>();
  /** By member and scope. */
  readonly #late = new Map<string, Map<string, Late>>();

  get isWaiting(): boolean {
    return this.#waiting.size + this.#late.size > 0;
  }

  /** The group as far as this member knows it. */
  merge(state: GroupState, now: number): GroupState {
    for (const member of this.#late.keys()) if (!state.members.includes(member)) this.#late.delete(member);
    for (const { scope, holder, started } of state.leases) if (started) this.#late.get(holder)?.delete(scope);
    for (const [member, scopes] of this.#late) if (scopes.size === 0) this.#late.delete(member);
    if (this.#late.size === 0) return state;
    const stalled = new Map(state.stalled);
    for (const [member, scopes] of this.#late) {
      const late = [...scopes].flatMap(([scope, { until }]) => (until > now ? [scope] : []));
      if (late.length > 0) stalled.set(member, [...(stalled.get(member) ?? []), ...late]);
    }
    return { ...state, stalled };
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
      const scopes = this.#late.get(member) ?? new Map<string, Late>();
      const times = scopes.get(scope)?.times ?? 0;
      scopes.set(scope, { until: now + Math.min(unableMs.max, unableMs.first * 2 ** times), times: times + 1 });
      this.#late.set(member, scopes);
      late.push(scope);
    }
    return late;
  }
}
