import type { Clock } from '@sluice/runtime';
import { hashTagged } from './keys.ts';
import type { Client } from './script.ts';
import { withTimeout } from './with-timeout.ts';

export interface RedisConnectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Prefix of every key. */
  readonly fleet: string;
  /** Timeout of one command, in milliseconds. */
  readonly commandTimeoutMs: number;
}

/** A client, with the keys of one fleet and a timeout for each command. */
export class RedisConnection {
  readonly client: Client;
  readonly fleet: string;
  readonly #clock: Clock;
  readonly #commandTimeoutMs: number;

  constructor({ client, clock, fleet, commandTimeoutMs }: RedisConnectionOptions) {
    this.client = client;
    this.fleet = fleet;
    this.#clock = clock;
    this.#commandTimeoutMs = commandTimeoutMs;
  }

  /** Rejects with TIMEOUT if `answer` takes too long. `what` names the purpose of the command. */
  withTimeout<T>(what: string, answer: Promise<T>, limitMs = this.#commandTimeoutMs): Promise<T> {
    return withTimeout(this.#clock, limitMs, what, answer);
  }

  /** Key or key prefix with a hash tag. */
  key(part: string): string {
    return hashTagged(this.fleet, part);
  }
}
