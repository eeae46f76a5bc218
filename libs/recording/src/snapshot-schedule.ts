import type { NewRecord } from './records.ts';

/** Records of a Service after which it is published whole again: a read begins at a snapshot, and applies what follows. */
const recordsPerSnapshot = 500;
/** Services that are requested at once because a file lacks them. */
const batch = 100;

/** Requests a snapshot of each Service: one in each file, and one after so many records. */
export class SnapshotSchedule {
  readonly #request: (key: string) => void;
  /** Records since the last snapshot, or since it was requested. */
  readonly #records = new Map<string, number>();
  readonly #deleted = new Set<string>();
  /** Services of which the file has no snapshot. */
  readonly #missing = new Set<string>();

  constructor(request: (key: string) => void) {
    this.#request = request;
  }

  added({ key, startsSnapshot, service }: NewRecord): void {
    const isMissing = this.#missing.delete(key);
    if (service?.isDeleted) this.#deleted.add(key);
    else if (service !== undefined) this.#deleted.delete(key);
    const records = startsSnapshot ? 0 : (this.#records.get(key) ?? recordsPerSnapshot) + 1;
    if (records > recordsPerSnapshot || (isMissing && !startsSnapshot)) this.#requestNow(key);
    else this.#records.set(key, records);
  }

  /** A file begins with these records. It shall have every Service, also those that do not change. */
  restart(records: readonly NewRecord[]): void {
    for (const key of this.#deleted) this.#records.delete(key);
    this.#deleted.clear();
    for (const key of this.#records.keys()) this.#missing.add(key);
    for (const { key, startsSnapshot } of records) if (startsSnapshot) this.#missing.delete(key);
  }

  /** Requests the next ones of those that the file lacks. */
  requestMissing(): void {
    for (const key of [...this.#missing.keys().take(batch)]) {
      this.#missing.delete(key);
      this.#requestNow(key);
    }
  }

  #requestNow(key: string): void {
    this.#records.set(key, 0);
    this.#request(key);
  }
}
