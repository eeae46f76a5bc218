import {
  type DeadLetter,
  type DeadLetters,
  deadLetterName,
  maxDeadLetterBytes,
  maxDeadLetters,
  type NewDeadLetter,
} from '../index.ts';
import { withTimeout } from './redis-error.ts';
import { type Commands, decodeFrame, encodeFrame, hashTagged, Script } from './script.ts';

interface Options extends Commands {
  /** Maximum number kept. Default 1,000. */
  readonly max?: number | undefined;
  /** Maximum size of all that are kept, in bytes. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
}

type Header = Omit<NewDeadLetter, 'record'> & { readonly record: Omit<NewDeadLetter['record'], 'payload'> };

const addScript = new Script(['add-dead-letter']);
const dropScript = new Script(['drop-dead-letter']);

/** Dead letters read per command: payloads may be large. */
const CHUNK = 50;

/** Dead letters in Redis. */
export class RedisDeadLetters implements DeadLetters {
  readonly #options: Options;
  readonly #letters: string;
  readonly #order: string;
  readonly #bytes: string;

  constructor(options: Options) {
    this.#options = options;
    const tag = hashTagged(options.fleet, 'dead-letters');
    this.#letters = `${tag}:letters`;
    this.#order = `${tag}:order`;
    this.#bytes = `${tag}:bytes`;
  }

  async add(letter: NewDeadLetter): Promise<void> {
    const { client, max = maxDeadLetters, maxBytes = maxDeadLetterBytes } = this.#options;
    const { payload, ...record } = letter.record;
    const frame = encodeFrame({ ...letter, record } satisfies Header, payload);
    const name = deadLetterName(letter);
    const args = [name, frame, max, maxBytes];
    await withTimeout(this.#options, `dead-lettering ${name}`, addScript.run(client, this.#keys, args));
  }

  async list(): Promise<readonly DeadLetter[]> {
    const { client } = this.#options;
    const what = 'listing dead letters';
    const names = await withTimeout(this.#options, what, client.lrange(this.#order, 0, -1));
    const letters: DeadLetter[] = [];
    for (let i = 0; i < names.length; i += CHUNK) {
      const chunk = names.slice(i, i + CHUNK);
      const frames = await withTimeout(this.#options, what, client.hmgetBuffer(this.#letters, ...chunk));
      for (const [index, frame] of frames.entries()) {
        // A missing frame was dropped after the names were read.
        if (frame !== null) letters.push(decodeLetter(chunk[index] ?? '', frame));
      }
    }
    return letters;
  }

  async drop(name: string): Promise<boolean> {
    return (
      (await withTimeout(
        this.#options,
        `dropping ${name}`,
        dropScript.run(this.#options.client, this.#keys, [name]),
      )) === 1
    );
  }

  get #keys(): readonly string[] {
    return [this.#letters, this.#order, this.#bytes];
  }
}

function decodeLetter(name: string, frame: Buffer): DeadLetter {
  const { header, payload } = decodeFrame<Header>(frame);
  return { ...header, name, record: { ...header.record, payload } };
}
