import type { Clock } from '@sluice/runtime';

/** A controller that has not written for this long has been disabled, in milliseconds. */
const keptMs = 10 * 60_000;

/** Which other controllers have recently written the objects of each cluster. */
export class CompetingManagers {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly manager: string; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(identity: string, manager: string): void {
    this.#seen.set(identity, { manager, at: this.#clock.now() });
  }

  of(identity: string): string | undefined {
    const seen = this.#seen.get(identity);
    return seen !== undefined && this.#clock.now() - seen.at < keptMs ? seen.manager : undefined;
  }
}
