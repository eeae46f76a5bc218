import type { Lease } from '@sluice/store';

/** Scopes that change hands at a time: a sixteenth of the group's, so that it is over soon however many there are. */
const atOnce = { least: 4, share: 1 / 16 };

/**
 * Paces a hand-over. Between the end of its work here and the beginning there a scope is nobody's, and who takes over many
 * at once is slow with each. So only few are on their way at a time, until others have started with them, and the rest is still worked on here.
 */
export class Handover {
  readonly #atOnce: number;
  readonly #patienceMs: number;
  /** Told to end, and nobody else has started with it yet: since when. */
  readonly #onTheirWay = new Map<string, number>();

  /** `scopes`: of the whole group. `patienceMs`: one that nobody has started with for so long does not hold up the others. */
  constructor(scopes: number, patienceMs: number) {
    this.#atOnce = Math.max(atOnce.least, Math.ceil(scopes * atOnce.share));
    this.#patienceMs = patienceMs;
  }

  /** Which of the scopes that are to be given up are to end now; all of them if there is nobody who could take them. */
  next(surplus: readonly string[], { member, members, leases }: HandoverGroup, now: number): readonly string[] {
    for (const { scope, holder, started } of leases) if (holder !== member && started) this.#onTheirWay.delete(scope);
    for (const [scope, since] of this.#onTheirWay) {
      if (now - since >= this.#patienceMs) this.#onTheirWay.delete(scope);
    }
    if (!members.some((name) => name !== member)) return surplus;
    const chosen = surplus.slice(0, Math.max(0, this.#atOnce - this.#onTheirWay.size));
    for (const scope of chosen) this.#onTheirWay.set(scope, now);
    return chosen;
  }
}

export interface HandoverGroup {
  /** This one. */
  readonly member: string;
  readonly members: readonly string[];
  readonly leases: readonly Pick<Lease, 'scope' | 'holder' | 'started'>[];
}
