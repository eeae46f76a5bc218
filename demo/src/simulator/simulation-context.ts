import { isStatusError } from '@sluice/fake-apiserver';
import { type Cancel, type Clock, type Random, randomInteger } from '@sluice/platform';
import type { ClusterActivity } from './activity.ts';
import type { SimulatorApi } from './simulator-api.ts';

/** What all parts of the simulator share: API access, time, randomness and listeners. */
export class SimulationContext {
  readonly api: SimulatorApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly #listeners = new Set<(activity: ClusterActivity) => void>();
  readonly #timers = new Set<Cancel>();
  #closed = false;

  constructor(api: SimulatorApi, clock: Clock, random: Random) {
    this.api = api;
    this.clock = clock;
    this.random = random;
  }

  onActivity(listener: (activity: ClusterActivity) => void): void {
    this.#listeners.add(listener);
  }

  report(activity: Omit<ClusterActivity, 'at'>): void {
    if (this.#closed) return;
    for (const listener of this.#listeners) listener({ at: this.clock.now(), ...activity });
  }

  /** Runs `act` after a random delay between the two, unless the simulator stops first. */
  schedule(fromMs: number, toMs: number, act: () => void): void {
    if (this.#closed) return;
    const cancel = this.clock.schedule(randomInteger(this.random, fromMs, toMs), () => {
      this.#timers.delete(cancel);
      act();
    });
    this.#timers.add(cancel);
  }

  /**
   * Sends a request. Returns false if the API server rejects it because a user changed the object; the next sync repairs
   * the simulator's state.
   */
  attempt(act: (api: SimulatorApi) => void): boolean {
    try {
      act(this.api);
      return true;
    } catch (error) {
      if (isStatusError(error) && error.status.code < 500) return false;
      throw error;
    }
  }

  between(from: number, to: number): number {
    return randomInteger(this.random, from, to);
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.random.next() * items.length)];
  }

  close(): void {
    this.#closed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
