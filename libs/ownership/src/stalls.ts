import { forAllScopes } from '@sluice/store';
import { concerns } from './assign.ts';

/**
 * How long a member without progress waits for it while others could work, in milliseconds. When the bus or a cluster fails
 * for all members, they notice it at different times, and when it is back they reach it at different times.
 */
export const giveUpMs = 2_000;

/** How long a member that has given scopes up must be able to work before it gets some again, in milliseconds. */
export const provenMs = 5_000;

interface Stall {
  /** Monotonic time at which it was last observed. */
  lastAt: number;
  /** A scope was given up for it. */
  gaveUp: boolean;
}

interface Surrender {
  /** Monotonic time since which another member is preferred. */
  readonly since: number;
  /** Monotonic time at which the scope was given up. */
  at: number | undefined;
}

/** What a member makes no progress on, and when it gives scopes up for that. */
export class Stalls {
  readonly #stalls = new Map<string, Stall>();
  readonly #surrenders = new Map<string, Surrender>();

  /** What to report, from what is `observed` now. */
  report(observed: Iterable<string>, now: number): readonly string[] {
    for (const name of observed) {
      const stall = this.#stalls.get(name);
      if (stall === undefined) this.#stalls.set(name, { lastAt: now, gaveUp: false });
      else stall.lastAt = now;
    }
    for (const [name, { lastAt, gaveUp }] of this.#stalls) {
      if (gaveUp ? now - lastAt >= provenMs : lastAt < now) this.#stalls.delete(name);
    }
    return [...this.#stalls.keys()].sort();
  }

  concerns(scope: string): boolean {
    return this.#stalls.size > 0 && this.#stalls.keys().some((name) => concerns(name, scope));
  }

  /** What all scopes need and lack. */
  get shared(): readonly string[] {
    return [...this.#stalls.keys()].flatMap((name) =>
      name.startsWith(forAllScopes) ? [name.slice(forAllScopes.length)] : [],
    );
  }

  /**
   * `scopes`: those that this member holds without progress, and that others are preferred for. Returns those to give up now,
   * and those to release although work on them has not stopped `stopMs` later: it may wait for what does not answer.
   * `isBehind`: whether another member has fewer reasons for the scope; otherwise it only moves to its fair share.
   */
  giveUp(
    scopes: readonly string[],
    isBehind: (scope: string) => boolean,
    stopMs: number,
    now: number,
  ): { stop: readonly string[]; abandon: readonly string[] } {
    if (scopes.length === 0 && this.#surrenders.size === 0) return { stop: [], abandon: [] };
    for (const scope of this.#surrenders.keys()) if (!scopes.includes(scope)) this.#surrenders.delete(scope);
    const [stop, abandon]: [string[], string[]] = [[], []];
    for (const scope of scopes) {
      const surrender = this.#surrenders.get(scope) ?? { since: now, at: undefined };
      this.#surrenders.set(scope, surrender);
      if (surrender.at === undefined && now - surrender.since >= giveUpMs) {
        surrender.at = now;
        stop.push(scope);
        for (const [name, stall] of this.#stalls) if (concerns(name, scope) && isBehind(scope)) stall.gaveUp = true;
      }
      if (surrender.at !== undefined && now - surrender.at >= stopMs) abandon.push(scope);
    }
    return { stop, abandon };
  }
}
