import { hash32 } from '@sluice/messages';
import { forAllScopes, type GroupState, type Lease } from '@sluice/store';

interface Assignable extends Pick<GroupState, 'members' | 'serves' | 'stalled'> {
  readonly leases?: readonly Pick<Lease, 'scope' | 'holder'>[];
}

/**
 * Computes the target holder of each scope. Scopes that the same members can serve are divided among these members, each such
 * class for itself; there is one class if all members can serve the same scopes. Each member keeps the scopes it holds, up to
 * the fair share (rounded up); rendezvous hashing with that cap assigns the rest. A member gets no scope on which others have
 * fewer reasons to make no progress: while no member can work on it, it stays where it is. The result depends only on the group
 * state, so all members that see the same state agree, and as few scopes as possible move when a member joins or leaves.
 *
 * `scopes`: those that members serve which do not declare theirs.
 */
export function assign(group: Assignable, scopes: readonly string[]): Map<string, string> {
  const holders = new Map((group.leases ?? []).map(({ scope, holder }) => [scope, holder]));
  const assigned = new Map<string, string>();
  for (const one of classesOf(group, scopes)) assignClass(able(one, group.stalled), holders, assigned);
  return assigned;
}

/** Whether an entry of `stalled` is a reason to make no progress on the scope. */
export const concerns = (entry: string, scope: string): boolean => entry === scope || entry.startsWith(forAllScopes);

/** Number of reasons of a member to make no progress on the scope. */
export const countReasons = (stalled: GroupState['stalled'], member: string, scope: string): number =>
  stalled?.get(member)?.filter((one) => concerns(one, scope)).length ?? 0;

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

interface AbleClass extends ScopeClass {
  /** The members that have the fewest reasons to make no progress on a scope. */
  readonly ableFor: (scope: string) => readonly string[];
}

/** Leaves out members that are the best for none of the scopes. */
function able({ members, scopes }: ScopeClass, stalled: GroupState['stalled']): AbleClass {
  if (!members.some((member) => stalled?.has(member))) return { members, scopes, ableFor: () => members };
  const byScope = new Map(
    scopes.map((scope) => {
      const reasons = members.map((member) => countReasons(stalled, member, scope));
      const fewest = Math.min(...reasons);
      return [scope, members.filter((_, i) => reasons[i] === fewest)];
    }),
  );
  const useful = new Set([...byScope.values()].flat());
  const left = members.filter((member) => useful.has(member));
  return { members: left, scopes, ableFor: (scope) => byScope.get(scope) ?? [] };
}

function assignClass(
  { members, scopes, ableFor }: AbleClass,
  holders: ReadonlyMap<string, string>,
  assigned: Map<string, string>,
): void {
  if (scopes.length === 0) return;
  const cap = Math.ceil(scopes.length / members.length);
  const keeperOf = (scope: string) => ableFor(scope).find((member) => member === holders.get(scope));
  const heldBy = Map.groupBy(scopes, keeperOf);
  const capacity = new Map<string, number>();
  for (const member of members) {
    const held = heldBy.get(member) ?? [];
    const kept = held.length <= cap ? held : rank(held, (scope) => hash32(`${member}\n${scope}`)).slice(0, cap);
    for (const scope of kept) assigned.set(scope, member);
    capacity.set(member, cap - kept.length);
  }
  const left = (member: string) => capacity.get(member) ?? 0;
  for (const scope of scopes) {
    if (assigned.has(scope)) continue;
    const free = ableFor(scope).filter((member) => left(member) > 0);
    const [best] = rank(free, (member) => hash32(`${member}\n${scope}`));
    // More than a fair share, if those that have room cannot work on it.
    const chosen = best ?? keeperOf(scope) ?? ableFor(scope).toSorted((a, b) => left(b) - left(a))[0];
    if (chosen === undefined) continue;
    assigned.set(scope, chosen);
    capacity.set(chosen, left(chosen) - 1);
  }
}

/** Sorts by descending score, then by name. */
function rank(names: readonly string[], score: (name: string) => number): readonly string[] {
  return names
    .map((name) => ({ name, score: score(name) }))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

interface Successor {
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
