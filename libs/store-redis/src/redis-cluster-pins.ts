import type { Clock } from '@sluice/runtime';
import type { ClusterPins } from '@sluice/store';
import { hashTagged } from './keys.ts';
import { type Client, Script } from './script.ts';
import { withTimeout } from './with-timeout.ts';

export interface RedisClusterPinsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly commandTimeoutMs: number;
}

const replaceScript = new Script(['replace']);

/** Cluster pins in Redis: one string. */
export class RedisClusterPins implements ClusterPins {
  readonly #options: RedisClusterPinsOptions;
  readonly #key: string;

  constructor(options: RedisClusterPinsOptions) {
    this.#options = options;
    this.#key = hashTagged(options.fleet, 'cluster-pins');
  }

  read(): Promise<string | null> {
    return this.#withTimeout('reading cluster pins', this.#options.client.get(this.#key));
  }

  async replace(expected: string | null, next: string): Promise<boolean> {
    const replaced = replaceScript.run(this.#options.client, [this.#key], [expected ?? '', next]);
    return (await this.#withTimeout('pinning clusters', replaced)) === 1;
  }

  #withTimeout<T>(what: string, answer: Promise<T>): Promise<T> {
    return withTimeout(this.#options.clock, this.#options.commandTimeoutMs, what, answer);
  }
}
