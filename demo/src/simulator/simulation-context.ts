import { isStatusError } from '@sluice/fake-apiserver';
import { type Cancel, type Clock, type Random, randomInteger } from '@sluice/runtime';
import type { ClusterActivity } from './activity.ts';
import type { SimulatorApi } from './simulator-api.ts';

/** What everything in a world shares: its cluster, time, chance, and who is told. */
export class SimulationContext {
  readonly api: SimulatorApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly #listeners = new Set<(action: ClusterActivity) => void>();
  readonly #timers = new Set<Cancel>();
  #closed = false;

  constructor(api: SimulatorApi, clock: Clock, random: Random) {
    this.api = api;
    this.clock = clock;
    this.random = random;
  }

  listen(listener: (action: ClusterActivity) => void): void {
    this.#listeners.add(listener);
  }

  tell(action: Omit<ClusterActivity, 'at'>): void {
    if (this.#closed) return;
    for (const listener of this.#listeners) listener({ at: this.clock.now(), ...action });
  }

  /** Some time between the two delays, unless the world ends before. */
  later(fromMs: number, toMs: number, act: () => void): void {
    if (this.#closed) return;
    const cancel = this.clock.schedule(randomInteger(this.random, fromMs, toMs), () => {
      this.#timers.delete(cancel);
      act();
    });
    this.#timers.add(cancel);
  }

  /**
   * Does something to the cluster. False if the object is no longer as the world thinks, since people may change the
   * cluster too: the next look at it puts that right.
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
