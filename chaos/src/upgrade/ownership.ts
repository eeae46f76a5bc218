import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@sluice/platform/process';
import type { Leases } from '@sluice/store';
import { UnownedTimes } from './unowned-times.ts';

const groups = ['watcher', 'reconciler', 'writer'] as const;
const sampleMs = 20;
/** For what hangs; a busy machine does not reach it. */
const settleMs = 120_000;

/** Follows the leases of a fleet of workers. */
export class Ownership {
  readonly #leases: Pick<Leases, 'state'>;
  readonly #fleet: { readonly workers: number; readonly partitions: number };
  readonly #times = new UnownedTimes();
  #members = 0;
  #samples = 0;

  constructor(leases: Pick<Leases, 'state'>, fleet: { readonly workers: number; readonly partitions: number }) {
    this.#leases = leases;
    this.#fleet = fleet;
  }

  /** Scopes without an owner that works on them, with their group. */
  get unowned(): readonly string[] {
    return this.#times.unowned;
  }

  /** Samples the leases until `isOver`. */
  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const states = await Promise.all(groups.map((group) => this.#leases.state(group)));
      const at = systemClock.monotonic();
      for (const [index, group] of groups.entries()) this.#times.sample(group, states[index]?.leases ?? [], at);
      this.#members = Math.min(...states.map(({ members }) => members.length));
      this.#samples++;
      await sleep(sampleMs);
    }
  }

  /** Waits until all workers are members and everything has an owner that works on it. Returns what is missing at last. */
  async settled(): Promise<string | undefined> {
    const until = systemClock.monotonic() + settleMs;
    // A sample in progress may be from before the last replacement.
    const fresh = this.#samples + 2;
    while (this.#samples < fresh || !this.#isSettled) {
      if (systemClock.monotonic() > until)
        return `${this.#members} members; without an owner: ${this.unowned.join(', ') || 'none'}`;
      await sleep(sampleMs);
    }
    return undefined;
  }

  /** The longest time in which a scope had no owner, of those that began in a period of the monotonic clock. */
  longestGap(from: number, to: number): number {
    return this.#times.longest(from, to);
  }

  get #isSettled(): boolean {
    const { workers, partitions } = this.#fleet;
    return this.#members === workers && this.#times.scopes.size > 2 * partitions && this.unowned.length === 0;
  }
}
