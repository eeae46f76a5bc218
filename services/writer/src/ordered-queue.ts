interface Entry<T> {
  readonly order: number;
  readonly item: T;
}

/** A queue whose lowest `order` comes first; of equal ones, the one that was added first. */
export class OrderedQueue<T> {
  /** Last out first, so that taking costs nothing. */
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Returns what takes the item out again before its turn. */
  add(order: number, item: T): () => void {
    let from = 0;
    let to = this.#entries.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#entries[middle]?.order ?? 0) > order) from = middle + 1;
      else to = middle;
    }
    const entry = { order, item };
    this.#entries.splice(from, 0, entry);
    return () => {
      const index = this.#entries.indexOf(entry);
      if (index >= 0) this.#entries.splice(index, 1);
    };
  }

  take(): T | undefined {
    return this.#entries.pop()?.item;
  }
}
