import TinyQueue from 'tinyqueue';

interface Entry {
  readonly key: string;
  readonly at: number;
}

/** Keys by due time, each at most once. Moving a key leaves its former entry in the heap, where it is skipped later. */
export class DelayingQueue {
  readonly #due = new Map<string, number>();
  #heap = emptyHeap();

  /** Sets or moves the due time of a key; null removes the key. */
  set(key: string, at: number | null): void {
    if (at === null) {
      this.#due.delete(key);
      return;
    }
    if (this.#due.get(key) === at) return;
    this.#due.set(key, at);
    this.#heap.push({ key, at });
    // Bounds the number of outdated entries.
    if (this.#heap.length > 64 + 4 * this.#due.size) this.#rebuild();
  }

  /** The earliest due time; undefined if the queue is empty. */
  next(): number | undefined {
    return this.#first()?.at;
  }

  /** Removes and returns all keys that are due at `now`. */
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
      const first = this.#heap.peek();
      if (first === undefined || this.#due.get(first.key) === first.at) return first;
      this.#heap.pop();
    }
  }

  #rebuild(): void {
    this.#heap = emptyHeap();
    for (const [key, at] of this.#due) this.#heap.push({ key, at });
  }
}

const emptyHeap = (): TinyQueue<Entry> => new TinyQueue<Entry>([], (a, b) => a.at - b.at);
