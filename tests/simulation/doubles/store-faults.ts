import type { Random } from '@sluice/platform';
import type { Leases, Store } from '@sluice/store';

export interface StoreFault {
  /** Whether the request fails before or after it takes effect. */
  readonly when: 'before' | 'after';
  readonly probability: number;
}

/** Lets requests to a store fail. */
export class StoreFaults {
  readonly #random: Random;
  #fault: StoreFault | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  set(fault: StoreFault | undefined): void {
    this.#fault = fault;
  }

  store(store: Store): Store {
    return {
      claim: (...args) => this.#pass(() => store.claim(...args)),
      commit: (...args) => this.#pass(() => store.commit(...args)),
      find: (...args) => this.#pass(() => store.find(...args)),
      setIfAbsent: (...args) => this.#pass(() => store.setIfAbsent(...args)),
      checkpoint: (...args) => this.#pass(() => store.checkpoint(...args)),
    };
  }

  leases(leases: Leases): Leases {
    return {
      heartbeat: (...args) => this.#pass(() => leases.heartbeat(...args)),
      leave: (...args) => this.#pass(() => leases.leave(...args)),
      state: (...args) => this.#pass(() => leases.state(...args)),
      watch: (...args) => leases.watch(...args),
    };
  }

  async #pass<T>(send: () => Promise<T>): Promise<T> {
    const strikes =
      this.#fault !== undefined && this.#random.next() < this.#fault.probability ? this.#fault : undefined;
    if (strikes?.when === 'before') throw new Error('injected: request not executed');
    const answer = await send();
    if (strikes?.when === 'after') throw new Error('injected: request executed, and reported as failed');
    return answer;
  }
}
