import { hash32 } from '@sluice/messages';
import type { GroupState, Lease } from '@sluice/store';

export interface Assignable extends Pick<GroupState, 'members' | 'serves'> {
  readonly leases?: readonly Pick<Lease, 'scope' | 'holder'>[];
}

/**
 * Computes the target holder of each scope. Scopes that the same members can serve are divided among these members, each such
 * class for itself; there is one class if all members can serve the same scopes. Each member keeps the scopes it holds, up to
 * the fair share (rounded up); rendezvous hashing with that cap assigns the rest. The result depends only on the group state,
 * so all members that see the same state agree, and as few scopes as possible move when a member joins or leaves.
 *
 * `scopes`: those that members serve which do not declare theirs.
 */
export function assign({ members, serves, leases = [] }: Assignable, scopes: readonly string[]): Map<string, string> {
  const holders = new Map(leases.map(({ scope, holder }) => [scope, holder]));
  const assigned = new Map<string, string>();
  for (const one of classesOf({ members, serves }, scopes)) assignClass(one, holders, assigned);
  return assigned;
}

interface ScopeClass {
  readonly members: readonly string[];
  readonly scopes: readonly string[];
}

/** The scopes by the members that can serve them; both sorted. */
function classesOf(group: Assignable, scopes: readonly string[]): readonly ScopeClass[] {
  const members = group.members.toSorted();
  if (members.length === 0) return [];
  if (group.serves === undefined) return [{ members, scopes: scopes.toSorted() }];
  const capable = new Map<string, string[]>();
  for (const member of members) {
    for (const scope of group.serves.get(member) ?? scopes) {
      const of = capable.get(scope);
      if (of === undefined) capable.set(scope, [member]);
      else of.push(member);
    }
  }
  const classes = Map.groupBy([...capable.keys()].sort(), (scope) => (capable.get(scope) ?? []).join('\n'));
  return [...classes].map(([names, scopes]) => ({ members: names.split('\n'), scopes }));
}

function assignClass(
  { members, scopes }: ScopeClass,
  holders: ReadonlyMap<string, string>,
  assigned: Map<string, string>,
): void {
  const cap = Math.ceil(scopes.length / members.length);
  const heldBy = Map.groupBy(scopes, (scope) => holders.get(scope));
  const capacity = new Map<string, number>();
  for (const member of members) {
    const held = heldBy.get(member) ?? [];
    const kept = held.length <= cap ? held : rank(held, (scope) => hash32(`${member}\n${scope}`)).slice(0, cap);
    for (const scope of kept) assigned.set(scope, member);
    capacity.set(member, cap - kept.length);
  }
  for (const scope of scopes) {
    if (assigned.has(scope)) continue;
    const free = members.filter((member) => (capacity.get(member) ?? 0) > 0);
    const [best] = rank(free, (member) => hash32(`${member}\n${scope}`));
    if (best === undefined) continue;
    assigned.set(scope, best);
    capacity.set(best, (capacity.get(best) ?? 1) - 1);
  }
}

/** Sorts by descending score, then by name. */
function rank(names: readonly string[], score: (name: string) => number): readonly string[] {
  return names
    .map((name) => ({ name, score: score(name) }))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}
