import { type DeadLetter, type DeadLetters, deadLetterName, type NewDeadLetter } from '@sluice/store';

/** Remembers what is added. */
export class DeadLetterObserver implements DeadLetters {
  /** Names with reasons. */
  readonly added: string[] = [];
  readonly #inner: DeadLetters;

  constructor(inner: DeadLetters) {
    this.#inner = inner;
  }

  add(letter: NewDeadLetter): Promise<void> {
    this.added.push(`${deadLetterName(letter)}: ${letter.reason}`);
    return this.#inner.add(letter);
  }

  list(): Promise<readonly DeadLetter[]> {
    return this.#inner.list();
  }

  drop(name: string): Promise<boolean> {
    return this.#inner.drop(name);
  }
}
