import {
  type DeadLetter,
  type DeadLetters,
  deadLetterName,
  maxDeadLetterBytes,
  maxDeadLetters,
  type NewDeadLetter,
} from './dead-letters.ts';

export interface MemoryDeadLettersOptions {
  /** Maximum number kept. */
  readonly max?: number;
  /** Maximum size of all payloads kept, in bytes. */
  readonly maxBytes?: number;
}

/** In-process dead letters. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #letters = new Map<string, DeadLetter>();
  readonly #max: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ max = maxDeadLetters, maxBytes = maxDeadLetterBytes }: MemoryDeadLettersOptions = {}) {
    this.#max = max;
    this.#maxBytes = maxBytes;
  }

  async add(letter: NewDeadLetter): Promise<void> {
    const name = deadLetterName(letter);
    if (this.#letters.has(name)) return;
    this.#letters.set(name, { ...letter, name });
    this.#bytes += letter.record.payload.length;
    for (const oldest of this.#letters.keys()) {
      if (oldest === name || (this.#letters.size <= this.#max && this.#bytes <= this.#maxBytes)) return;
      await this.drop(oldest);
    }
  }

  async list(): Promise<readonly DeadLetter[]> {
    return [...this.#letters.values()];
  }

  async drop(name: string): Promise<boolean> {
    this.#bytes -= this.#letters.get(name)?.record.payload.length ?? 0;
    return this.#letters.delete(name);
  }
}
