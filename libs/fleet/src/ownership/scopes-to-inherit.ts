import type { GroupState } from '@sluice/store';
import { assign } from './assign.ts';

export interface Successor {
  readonly member: string;
  /** Those that members serve which do not declare theirs. */
  readonly scopes: readonly string[];
  readonly ttlMs: number;
}

/**
 * The scopes that `member` acquires if the member that expires next does. None before that one has been silent for half the
 * lease, which a member whose heartbeats come at a quarter of it is only if it is dead, frozen or cut off.
 */
export function scopesToInherit(state: GroupState, { member, scopes, ttlMs }: Successor): readonly string[] {
  const { members, serves, stalled, nextExpiry } = state;
  if (nextExpiry === undefined || nextExpiry.inMs > ttlMs / 2) return [];
  const held = state.leases.flatMap(({ scope, holder }) => (holder === nextExpiry.member ? [scope] : []));
  if (held.length === 0) return [];
  const left = members.filter((name) => name !== nextExpiry.member);
  const leases = state.leases.filter(({ holder }) => holder !== nextExpiry.member);
  const target = assign({ members: left, serves, stalled, leases }, scopes);
  return held.filter((scope) => target.get(scope) === member);
}
