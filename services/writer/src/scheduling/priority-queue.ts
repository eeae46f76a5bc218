interface Entry<T> {
  readonly priority: number;
  readonly item: T;
}

/** Queue ordered by ascending `priority`, then by order of arrival. */
export class PriorityQueue<T> {
  /** Sorted in reverse, so that taking is O(1). */
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Returns a function that removes the item. */
  add(priority: number, item: T): () => void {
    let from = 0;
    let to = this.#entries.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#entries[middle]?.priority ?? 0) > priority) from = middle + 1;
      else to = middle;
    }
    const entry = { priority, item };
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
