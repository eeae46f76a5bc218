import type { Lease } from '@sluice/store';

/** Scopes in transfer at a time: 1/16 of the group's scopes, so a complete hand-over takes 16 rounds at most. */
const inTransferLimit = { minimum: 4, fraction: 1 / 16 };

/**
 * Limits how many scopes are handed over at a time. Nobody works on a scope between its release here and its start
 * elsewhere, and a member that acquires many scopes at once starts each of them slowly. The next scopes are released once
 * other members have started the previous ones; until then this member keeps working on them.
 */
export class Handover {
  readonly #timeoutMs: number;
  /** Monotonic time at which each scope was released; removed once another member has started it. */
  readonly #inTransfer = new Map<string, number>();

  /** `timeoutMs`: a scope that no member has started after this time stops counting against the limit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the `surplus` scopes to release now, among them all that nobody takes over. */
  next(
    surplus: readonly string[],
    { member, scopes, leases, isWanted }: HandoverGroup,
    now: number,
  ): readonly string[] {
    for (const { scope, holder, started } of leases) if (holder !== member && started) this.#inTransfer.delete(scope);
    for (const [scope, since] of this.#inTransfer) {
      if (now - since >= this.#timeoutMs) this.#inTransfer.delete(scope);
    }
    const unwanted = surplus.filter((scope) => !isWanted(scope));
    const wanted = surplus.filter(isWanted);
    const maxInTransfer = Math.max(inTransferLimit.minimum, Math.ceil(scopes * inTransferLimit.fraction));
    const next = wanted.slice(0, Math.max(0, maxInTransfer - this.#inTransfer.size));
    for (const scope of next) this.#inTransfer.set(scope, now);
    return [...unwanted, ...next];
  }
}

export interface HandoverGroup {
  /** The member that hands over. */
  readonly member: string;
  /** Number of scopes in the group. */
  readonly scopes: number;
  readonly leases: readonly Pick<Lease, 'scope' | 'holder' | 'started'>[];
  /** Whether another member takes the scope over. */
  readonly isWanted: (scope: string) => boolean;
}
