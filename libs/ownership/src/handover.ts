import type { Lease } from '@sluice/store';

/** Scopes in transfer at a time: 1/16 of the group's scopes, so a complete hand-over takes 16 rounds at most. */
const inTransferLimit = { minimum: 4, fraction: 1 / 16 };

/**
 * Limits how many scopes are handed over at a time. Nobody works on a scope between its release here and its start
 * elsewhere, and a member that acquires many scopes at once starts each of them slowly. The next scopes are released once
 * other members have started the previous ones; until then this member keeps working on them.
 */
export class Handover {
  readonly #maxInTransfer: number;
  readonly #timeoutMs: number;
  /** Monotonic time at which each scope was released; removed once another member has started it. */
  readonly #inTransfer = new Map<string, number>();

  /**
   * `scopes`: number of scopes in the group. `timeoutMs`: a scope that no member has started after this time stops
   * counting against the limit.
   */
  constructor(scopes: number, timeoutMs: number) {
    this.#maxInTransfer = Math.max(inTransferLimit.minimum, Math.ceil(scopes * inTransferLimit.fraction));
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the `surplus` scopes to release now: all of them if the group has no other member. */
  next(surplus: readonly string[], { member, members, leases }: HandoverGroup, now: number): readonly string[] {
    for (const { scope, holder, started } of leases) if (holder !== member && started) this.#inTransfer.delete(scope);
    for (const [scope, since] of this.#inTransfer) {
      if (now - since >= this.#timeoutMs) this.#inTransfer.delete(scope);
    }
    if (!members.some((name) => name !== member)) return surplus;
    const next = surplus.slice(0, Math.max(0, this.#maxInTransfer - this.#inTransfer.size));
    for (const scope of next) this.#inTransfer.set(scope, now);
    return next;
  }
}

export interface HandoverGroup {
  /** The member that hands over. */
  readonly member: string;
  readonly members: readonly string[];
  readonly leases: readonly Pick<Lease, 'scope' | 'holder' | 'started'>[];
}
