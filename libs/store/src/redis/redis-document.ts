import type { StoredDocument } from '../index.ts';
import { withTimeout } from './redis-error.ts';
import { type Commands, hashTagged, Script } from './script.ts';

const replaceScript = new Script(['replace']);

/** A document in Redis: one string. */
export class RedisDocument implements StoredDocument {
  readonly #commands: Commands;
  readonly #name: string;

  /** `name`: its key, without the name of the fleet. */
  constructor(commands: Commands, name: string) {
    this.#commands = commands;
    this.#name = name;
  }

  read(): Promise<string | null> {
    return withTimeout(this.#commands, `reading ${this.#name}`, this.#commands.client.get(this.#key));
  }

  async replace(expected: string | null, next: string): Promise<boolean> {
    const replaced = replaceScript.run(this.#commands.client, [this.#key], [expected ?? '', next]);
    return (await withTimeout(this.#commands, `replacing ${this.#name}`, replaced)) === 1;
  }

  get #key(): string {
    return hashTagged(this.#commands.fleet, this.#name);
  }
}
