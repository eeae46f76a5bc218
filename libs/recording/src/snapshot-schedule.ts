import type { NewRecord } from './records.ts';

/** Records of a Service after which its state is recorded again: a read begins at a snapshot, and applies what follows. */
const recordsPerSnapshot = 500;
/** Services of a new file at once, at least. */
const minBatch = 100;
/** A file has all Services after so many batches. */
const batches = 30;

/** Which Services are due for a snapshot: each in each file, and after so many records. */
export class SnapshotSchedule {
  /** Records since the last snapshot, by formatted key of the Service. */
  readonly #records = new Map<string, number>();
  readonly #due = new Set<string>();
  #batch = minBatch;

  added({ key, startsSnapshot }: NewRecord): void {
    const records = startsSnapshot ? 0 : (this.#records.get(key) ?? 0) + 1;
    this.#records.set(key, records);
    if (startsSnapshot) this.#due.delete(key);
    else if (records >= recordsPerSnapshot) this.#due.add(key);
  }

  /** A file begins with these records. It shall have every Service, also those that do not change. */
  restart(records: readonly NewRecord[]): void {
    for (const key of this.#records.keys()) this.#due.add(key);
    for (const { key, startsSnapshot } of records) if (startsSnapshot) this.#due.delete(key);
    this.#batch = Math.max(minBatch, Math.ceil(this.#due.size / batches));
  }

  /** The next ones, those that were due before first. */
  get next(): readonly string[] {
    return [...this.#due].slice(0, this.#batch);
  }

  get isEmpty(): boolean {
    return this.#due.size === 0;
  }

  /** The Service is not settled yet; the others come first. */
  postpone(key: string): void {
    this.#due.delete(key);
    this.#due.add(key);
  }

  /** Nothing is left of the Service. */
  forget(key: string): void {
    this.#due.delete(key);
    this.#records.delete(key);
  }
}
