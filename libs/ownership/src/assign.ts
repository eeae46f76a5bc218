import { hash32 } from '@sluice/messages';
import type { Lease } from '@sluice/store';

/**
 * Computes the target holder of each scope. Each member keeps the scopes it holds, up to the fair share (rounded up);
 * rendezvous hashing with that cap assigns the rest. The result depends only on the group state, so all members that see
 * the same state agree, and as few scopes as possible move when a member joins or leaves.
 */
export function assign(
  members: readonly string[],
  scopes: readonly string[],
  leases: readonly Pick<Lease, 'scope' | 'holder'>[] = [],
): ReadonlyMap<string, string> {
  const cap = Math.ceil(scopes.length / members.length);
  const leasesByHolder = Map.groupBy(leases, ({ holder }) => holder);
  const assigned = new Map<string, string>();
  const capacity = new Map<string, number>();
  for (const member of [...members].sort()) {
    const current = (leasesByHolder.get(member) ?? [])
      .map(({ scope }) => scope)
      .filter((scope) => scopes.includes(scope));
    const kept =
      current.length <= cap ? current : rank(current, (scope) => hash32(`${member}\n${scope}`)).slice(0, cap);
    for (const scope of kept) assigned.set(scope, member);
    capacity.set(member, cap - kept.length);
  }
  for (const scope of [...scopes].sort()) {
    if (assigned.has(scope)) continue;
    const free = [...capacity.keys()].filter((member) => (capacity.get(member) ?? 0) > 0);
    const [best] = rank(free, (member) => hash32(`${member}\n${scope}`));
    if (best === undefined) continue;
    assigned.set(scope, best);
    capacity.set(best, (capacity.get(best) ?? 1) - 1);
  }
  return assigned;
}

/** Sorts by descending score, then by name. */
function rank(names: readonly string[], score: (name: string) => number): readonly string[] {
  return names
    .map((name) => ({ name, score: score(name) }))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}
