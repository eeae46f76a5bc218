import type { Clock } from '@sluice/runtime';
import { type DeadLetter, type DeadLetters, deadLetterName, type NewDeadLetter } from '@sluice/store';
import { bounded } from './bounded.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { tagged } from './keys.ts';
import { type Client, Script } from './script.ts';

export interface RedisDeadLettersOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly patienceMs: number;
  /** How many are kept. Default 1,000. */
  readonly max?: number;
}

type Described = Omit<NewDeadLetter, 'record'> & { readonly record: Omit<NewDeadLetter['record'], 'payload'> };

const addScript = new Script(['add-dead-letter']);
const dropScript = new Script(['drop-dead-letter']);

/** Letters read at once: a payload may be large. */
const CHUNK = 50;

/** Dead letters in Redis. */
export class RedisDeadLetters implements DeadLetters {
  readonly #options: RedisDeadLettersOptions;
  readonly #letters: string;
  readonly #order: string;

  constructor(options: RedisDeadLettersOptions) {
    this.#options = options;
    const tag = tagged(options.fleet, 'dead-letters');
    this.#letters = `${tag}:letters`;
    this.#order = `${tag}:order`;
  }

  async add(letter: NewDeadLetter): Promise<void> {
    const { client, max = 1000 } = this.#options;
    const { payload, ...record } = letter.record;
    const frame = encodeFrame({ ...letter, record } satisfies Described, payload);
    const name = deadLetterName(letter);
    await this.#bounded(`setting ${name} aside`, addScript.run(client, this.#keys, [name, frame, max]));
  }

  async list(): Promise<readonly DeadLetter[]> {
    const { client } = this.#options;
    const what = 'list of dead letters';
    const names = await this.#bounded(what, client.lrange(this.#order, 0, -1));
    const letters: DeadLetter[] = [];
    for (let i = 0; i < names.length; i += CHUNK) {
      const some = names.slice(i, i + CHUNK);
      const frames = await this.#bounded(what, client.hmgetBuffer(this.#letters, ...some));
      for (const [index, frame] of frames.entries()) {
        // Dropped in between.
        if (frame !== null) letters.push(decodeLetter(some[index] ?? '', frame));
      }
    }
    return letters;
  }

  async drop(name: string): Promise<boolean> {
    return (await this.#bounded(`drop of ${name}`, dropScript.run(this.#options.client, this.#keys, [name]))) === 1;
  }

  get #keys(): readonly string[] {
    return [this.#letters, this.#order];
  }

  #bounded<T>(what: string, answer: Promise<T>): Promise<T> {
    return bounded(this.#options.clock, this.#options.patienceMs, what, answer);
  }
}

function decodeLetter(name: string, frame: Buffer): DeadLetter {
  const { description, payload } = decodeFrame<Described>(frame);
  return { ...description, name, record: { ...description.record, payload } };
}
