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
      const score = left > 0 ? scoreOf(member, scope) : -1;
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

/** FNV-1a, finished with an avalanche: names that differ in one character rank independently. */
function scoreOf(member: string, scope: string): number {
  const text = `${member}\n${scope}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
