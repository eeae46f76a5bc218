import type { Clock } from '@sluice/platform';
import type { StoredDocument } from '../index.ts';
import { withTimeout } from './redis-error.ts';
import { type Client, hashTagged, Script } from './script.ts';

export interface RedisDocumentOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly commandTimeoutMs: number;
  /** Its key, without the name of the fleet. */
  readonly name: string;
}

const replaceScript = new Script(['replace']);

/** A document in Redis: one string. */
export class RedisDocument implements StoredDocument {
  readonly #options: RedisDocumentOptions;
  readonly #key: string;

  constructor(options: RedisDocumentOptions) {
    this.#options = options;
    this.#key = hashTagged(options.fleet, options.name);
  }

  read(): Promise<string | null> {
    return this.#withTimeout('reading', this.#options.client.get(this.#key));
  }

  async replace(expected: string | null, next: string): Promise<boolean> {
    const replaced = replaceScript.run(this.#options.client, [this.#key], [expected ?? '', next]);
    return (await this.#withTimeout('replacing', replaced)) === 1;
  }

  #withTimeout<T>(what: string, answer: Promise<T>): Promise<T> {
    const { clock, commandTimeoutMs, name } = this.#options;
    return withTimeout(clock, commandTimeoutMs, `${what} ${name}`, answer);
  }
}
