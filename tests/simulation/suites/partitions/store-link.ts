import { type Clock, type Random, randomInteger, sleep } from '@sluice/platform';
import type { LinkFaults } from '../faulty-connection.ts';

export interface StoreLinkOptions {
  /** Of the process: it stands still while the process does. */
  readonly own: Clock;
  /** Of the network, and of everybody. */
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Readonly<LinkFaults>;
}

const timeoutMs = 2_000;
const latestMs = 3_000;

/** A connection of a thread to the store, over a network with faults. What has left the process is executed, in order, even if it freezes. */
export class StoreLink {
  readonly #options: StoreLinkOptions;
  /** When the last request arrives. */
  #arrivesAt = 0;

  constructor(options: StoreLinkOptions) {
    this.#options = options;
  }

  exchange<T>(execute: () => Promise<T>): Promise<T> {
    const { own, clock, random, faults } = this.#options;
    const { promise, reject, resolve } = Promise.withResolvers<T>();
    const upTo = (ms: number) => randomInteger(random, 0, ms);
    const chance = (probability: number) => probability > 0 && random.next() < probability;
    const travelMs = () => (chance(faults.late) ? upTo(latestMs) : upTo(faults.latencyMs));
    const send = async () => {
      if (chance(faults.fails / 2)) throw new Error('injected: not sent');
      this.#arrivesAt = Math.max(this.#arrivesAt, clock.now() + travelMs());
      await sleep(clock, this.#arrivesAt - clock.now());
      if (faults.cut === 'requests') return new Promise<T>(() => {});
      const answer = await execute();
      await sleep(clock, travelMs());
      if (faults.cut === 'answers') return new Promise<T>(() => {});
      if (chance(faults.fails / 2)) throw new Error('injected: connection closed');
      // A process that stands still gets it later.
      await sleep(own, 0);
      return answer;
    };
    const cancel = own.schedule(timeoutMs, () => reject(new Error('injected: no answer')));
    send().then(resolve, reject);
    return promise.finally(cancel);
  }
}
