import type { StoredObject } from './object.ts';

/** A change to one object. */
export interface LogEntry {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resourceVersion: number;
  /** State after the change; for a deletion, the last state with the resourceVersion of the deletion. */
  readonly object: StoredObject;
  /** State before the change. */
  readonly previous: StoredObject | undefined;
}

/** The latest changes of one resource: a bounded window from which watches read. */
export class EventLog {
  readonly #window: number;
  #entries: LogEntry[] = [];
  #compacted: number;

  /** Keeps between `window` and 1.25 × `window` changes, starting after `resourceVersion`. */
  constructor(window: number, resourceVersion: number) {
    this.#window = window;
    this.#compacted = resourceVersion;
  }

  /** Changes up to this resourceVersion are compacted; a client that has seen less must list again. */
  get compacted(): number {
    return this.#compacted;
  }

  append(entry: LogEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > this.#window * 1.25) this.#drop(this.#entries.length - this.#window);
  }

  /** Discards all changes up to `resourceVersion`. */
  compact(resourceVersion: number): void {
    this.#drop(this.#indexAfter(resourceVersion));
    this.#compacted = Math.max(this.#compacted, resourceVersion);
  }

  /** At most `limit` changes after `resourceVersion`, oldest first. */
  after(resourceVersion: number, limit: number): readonly LogEntry[] {
    const from = this.#indexAfter(resourceVersion);
    return this.#entries.slice(from, from + limit);
  }

  #drop(count: number): void {
    const last = this.#entries[count - 1];
    if (last === undefined) return;
    this.#compacted = last.resourceVersion;
    this.#entries = this.#entries.slice(count);
  }

  #indexAfter(resourceVersion: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && entry.resourceVersion <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
