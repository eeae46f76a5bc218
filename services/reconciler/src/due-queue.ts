import TinyQueue from 'tinyqueue';

interface Entry {
  readonly key: string;
  readonly at: number;
}

/** Keys by the time at which they are due. A key that is moved leaves an entry behind that no longer counts. */
export class DueQueue {
  readonly #due = new Map<string, number>();
  #queue = emptyQueue();

  /** Sets or moves the time of a key; null takes it off. */
  set(key: string, at: number | null): void {
    if (at === null) {
      this.#due.delete(key);
      return;
    }
    if (this.#due.get(key) === at) return;
    this.#due.set(key, at);
    this.#queue.push({ key, at });
    // What no longer counts may outnumber the rest, but not without bound.
    if (this.#queue.length > 64 && this.#queue.length > 4 * this.#due.size) this.#rebuild();
  }

  /** The earliest time, undefined if nothing is ever due. */
  next(): number | undefined {
    return this.#first()?.at;
  }

  /** Takes off all keys that are due at `now`. */
  take(now: number): string[] {
    const keys: string[] = [];
    for (let first = this.#first(); first !== undefined && first.at <= now; first = this.#first()) {
      this.#due.delete(first.key);
      keys.push(first.key);
    }
    return keys;
  }

  #first(): Entry | undefined {
    for (;;) {
      const first = this.#queue.peek();
      if (first === undefined || this.#due.get(first.key) === first.at) return first;
      this.#queue.pop();
    }
  }

  #rebuild(): void {
    this.#queue = emptyQueue();
    for (const [key, at] of this.#due) this.#queue.push({ key, at });
  }
}

const emptyQueue = (): TinyQueue<Entry> => new TinyQueue<Entry>([], (a, b) => a.at - b.at);
