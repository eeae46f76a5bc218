import { spread } from '@sluice/messages';

/**
 * Who should hold what: rendezvous hashing with a cap. Every member ranks the same for everybody who asks, so no two
 * members that see the same group disagree; no member gets more than its fair share, rounded up; and when one comes or
 * goes, little else moves.
 */
export function assign(members: readonly string[], scopes: readonly string[]): ReadonlyMap<string, string> {
  const assigned = new Map<string, string>();
  const cap = Math.ceil(scopes.length / members.length);
  const room = new Map([...members].sort().map((member) => [member, cap]));
  for (const scope of [...scopes].sort()) {
    let best: string | undefined;
    let bestScore = -1;
    for (const [member, left] of room) {
      const score = left > 0 ? spread(`${member}\n${scope}`) : -1;
      if (score <= bestScore) continue;
      best = member;
      bestScore = score;
    }
    if (best === undefined) continue;
    assigned.set(scope, best);
    room.set(best, (room.get(best) ?? 1) - 1);
  }
  return assigned;
}
