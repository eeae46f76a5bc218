import type { Lease } from '@sluice/store';

/** Scopes in transfer at a time: 1/16 of the group's scopes, so a complete hand-over takes 16 rounds at most. */
const inTransferLimit = { minimum: 4, fraction: 1 / 16 };

const maxInTransfer = (scopes: number): number =>
  Math.max(inTransferLimit.minimum, Math.ceil(scopes * inTransferLimit.fraction));

interface Transfer {
  /** Monotonic time. */
  readonly since: number;
  /** Whether this member has stopped; it works on the scope until the next member is prepared. */
  released: boolean;
}

/**
 * Limits how many scopes are handed over at a time. Nobody works on a scope between its release here and its start
 * elsewhere, and a member that acquires many scopes at once starts each of them slowly. So this member works on a scope until
 * the next one is prepared for it. The next scopes follow once other members have started the previous ones.
 */
export class Handover {
  readonly #timeoutMs: number;
  /** By scope; removed once another member has started it. */
  readonly #inTransfer = new Map<string, Transfer>();

  /** `timeoutMs`: a scope that no member has started after this time is released and stops counting against the limit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the `surplus` scopes to release now, including all that no other member takes over. */
  next(
    surplus: readonly string[],
    { member, scopes, leases, isWanted, isPrepared = () => true }: HandoverGroup,
    now: number,
  ): readonly string[] {
    const wanted = surplus.filter(isWanted).toSorted();
    for (const { scope, holder, started } of leases) if (holder !== member && started) this.#inTransfer.delete(scope);
    const next: string[] = [];
    for (const [scope, { since, released }] of this.#inTransfer) {
      const isLate = now - since >= this.#timeoutMs;
      if (isLate && wanted.includes(scope)) next.push(scope);
      if (isLate || !(released || wanted.includes(scope))) this.#inTransfer.delete(scope);
    }
    const others = wanted.filter((scope) => !this.#inTransfer.has(scope) && !next.includes(scope));
    const offered = others.slice(0, Math.max(0, maxInTransfer(scopes) - this.#inTransfer.size));
    for (const scope of offered) this.#inTransfer.set(scope, { since: now, released: false });
    for (const [scope, transfer] of this.#inTransfer) {
      if (transfer.released || !isPrepared(scope)) continue;
      transfer.released = true;
      next.push(scope);
    }
    return [...surplus.filter((scope) => !isWanted(scope)), ...next];
  }
}

interface HandoverGroup {
  /** The member that hands over. */
  readonly member: string;
  /** Number of scopes in the group. */
  readonly scopes: number;
  readonly leases: readonly Pick<Lease, 'scope' | 'holder' | 'started'>[];
  /** Whether another member takes the scope over. */
  readonly isWanted: (scope: string) => boolean;
  /** Whether that member can start at once. Default: it needs no preparation. */
  readonly isPrepared?: (scope: string) => boolean;
}

/** The leases that other members release next for `member`: each chooses those of the first scopes, in their order. */
export function leasesToReceive(
  leases: readonly Lease[],
  target: ReadonlyMap<string, string>,
  member: string,
): readonly Lease[] {
  const surplus = leases.filter(({ scope, holder }) => (target.get(scope) ?? holder) !== holder);
  const offered = [...Map.groupBy(surplus, ({ holder }) => holder).values()].flatMap((ofOne) =>
    ofOne.toSorted((a, b) => (a.scope < b.scope ? -1 : 1)).slice(0, maxInTransfer(target.size)),
  );
  return offered.filter(({ scope }) => target.get(scope) === member);
}
