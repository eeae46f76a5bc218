import type { Lease } from '@sluice/store';

interface Gap {
  readonly scope: string;
  readonly from: number;
  to: number;
}

/** Learns from samples of the leases how long each scope had no owner that works on it. Times are in milliseconds. */
export class UnownedTimes {
  readonly #scopes = new Set<string>();
  readonly #open = new Map<string, Gap>();
  readonly #gaps: Gap[] = [];

  /** `leases`: all of one group at this time. */
  sample(group: string, leases: readonly Lease[], at: number): void {
    const owned = new Set(leases.filter(({ started }) => started).map(({ scope }) => `${group} ${scope}`));
    for (const scope of owned) this.#scopes.add(scope);
    for (const scope of this.#scopes) {
      if (!scope.startsWith(`${group} `)) continue;
      const gap = this.#open.get(scope);
      if (gap !== undefined) gap.to = at;
      if (owned.has(scope)) this.#open.delete(scope);
      else if (gap === undefined) this.#add({ scope, from: at, to: at });
    }
  }

  /** Scopes that have had an owner, with their group. */
  get scopes(): ReadonlySet<string> {
    return this.#scopes;
  }

  /** Scopes without an owner at the last sample, with their group. */
  get unowned(): readonly string[] {
    return [...this.#open.keys()].sort();
  }

  /** The longest time in which one scope had no owner, of those that began in a period. */
  longest(from: number, to: number): number {
    return Math.max(
      0,
      ...this.#gaps.filter((gap) => gap.from >= from && gap.from < to).map((gap) => gap.to - gap.from),
    );
  }

  #add(gap: Gap): void {
    this.#open.set(gap.scope, gap);
    this.#gaps.push(gap);
  }
}
