import type { GroupState } from '@sluice/store';
import { assign } from './assign.ts';

export interface Successor {
  readonly member: string;
  readonly scopes: readonly string[];
  readonly ttlMs: number;
}

/**
 * The scopes that `member` acquires if the member that expires next does. None before that one has been silent for half the
 * lease, which a member whose heartbeats come at a quarter of it is only if it is dead, frozen or cut off.
 */
export function scopesToInherit(state: GroupState, { member, scopes, ttlMs }: Successor): readonly string[] {
  const { members, leases, nextExpiry } = state;
  if (nextExpiry === undefined || nextExpiry.inMs > ttlMs / 2) return [];
  const held = leases.flatMap(({ scope, holder }) => (holder === nextExpiry.member ? [scope] : []));
  if (held.length === 0) return [];
  const left = members.filter((name) => name !== nextExpiry.member);
  const target = assign(
    left,
    scopes,
    leases.filter(({ holder }) => holder !== nextExpiry.member),
  );
  return held.filter((scope) => target.get(scope) === member);
}
