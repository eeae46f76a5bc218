import { type DeadLetter, type DeadLetters, deadLetterName, type NewDeadLetter } from '@sluice/store';

/** Remembers what is added. */
export class DeadLetterObserver implements DeadLetters {
  /** Names with reasons. */
  readonly added: string[] = [];
  readonly #inner: DeadLetters;

  readonly #onAdded: (letter: NewDeadLetter) => void;

  constructor(inner: DeadLetters, onAdded: (letter: NewDeadLetter) => void) {
    this.#inner = inner;
    this.#onAdded = onAdded;
  }

  add(letter: NewDeadLetter): Promise<void> {
    this.added.push(`${deadLetterName(letter)}: ${letter.reason}`);
    this.#onAdded(letter);
    return this.#inner.add(letter);
  }

  list(): Promise<readonly DeadLetter[]> {
    return this.#inner.list();
  }

  drop(name: string): Promise<boolean> {
    return this.#inner.drop(name);
  }
}
