import { type DeadLetter, type DeadLetters, deadLetterName, type NewDeadLetter } from './dead-letters.ts';

/** In-process dead letters. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #letters = new Map<string, DeadLetter>();
  readonly #max: number;

  constructor(max = 1000) {
    this.#max = max;
  }

  async add(letter: NewDeadLetter): Promise<void> {
    const name = deadLetterName(letter);
    if (this.#letters.has(name)) return;
    this.#letters.set(name, { ...letter, name });
    const [oldest] = this.#letters.keys();
    if (this.#letters.size > this.#max && oldest !== undefined) this.#letters.delete(oldest);
  }

  async list(): Promise<readonly DeadLetter[]> {
    return [...this.#letters.values()];
  }

  async drop(name: string): Promise<boolean> {
    return this.#letters.delete(name);
  }
}
