import { hash32 } from '@sluice/messages';
import type { Lease } from '@sluice/store';

/**
 * Who should hold what: each keeps what it holds up to its fair share, rounded up, and rendezvous hashing with that cap
 * gives away the rest. Every member comes to the same for everybody, so no two that see the same group disagree; and when
 * one comes or goes, no more moves than must.
 */
export function assign(
  members: readonly string[],
  scopes: readonly string[],
  leases: readonly Pick<Lease, 'scope' | 'holder'>[] = [],
): ReadonlyMap<string, string> {
  const cap = Math.ceil(scopes.length / members.length);
  const held = Map.groupBy(leases, ({ holder }) => holder);
  const assigned = new Map<string, string>();
  const room = new Map<string, number>();
  for (const member of [...members].sort()) {
    const known = (held.get(member) ?? []).map(({ scope }) => scope).filter((scope) => scopes.includes(scope));
    const kept = known.length <= cap ? known : rank(known, (scope) => hash32(`${member}\n${scope}`)).slice(0, cap);
    for (const scope of kept) assigned.set(scope, member);
    room.set(member, cap - kept.length);
  }
  for (const scope of [...scopes].sort()) {
    if (assigned.has(scope)) continue;
    const free = [...room.keys()].filter((member) => (room.get(member) ?? 0) > 0);
    const [best] = rank(free, (member) => hash32(`${member}\n${scope}`));
    if (best === undefined) continue;
    assigned.set(scope, best);
    room.set(best, (room.get(best) ?? 1) - 1);
  }
  return assigned;
}

/** Highest score first; of the same score, in the order of their names. */
function rank(names: readonly string[], score: (name: string) => number): readonly string[] {
  return names
    .map((name) => ({ name, score: score(name) }))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}
