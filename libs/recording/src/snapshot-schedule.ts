import type { NewRecord } from './records.ts';

/** Records of a Service after which it is published whole again: a read begins at a snapshot, and applies what follows. */
const recordsPerSnapshot = 500;

/** Requests a snapshot of each Service that has records: one in each file, and one after so many records. */
export class SnapshotSchedule {
  readonly #request: (key: string) => void;
  /** Records since the last snapshot, or since it was requested. */
  readonly #records = new Map<string, number>();

  constructor(request: (key: string) => void) {
    this.#request = request;
  }

  added({ key, startsSnapshot }: NewRecord): void {
    const records = startsSnapshot ? 0 : (this.#records.get(key) ?? recordsPerSnapshot) + 1;
    const isDue = records > recordsPerSnapshot;
    this.#records.set(key, isDue ? 0 : records);
    if (isDue) this.#request(key);
  }

  /** A file begins with these records. */
  restart(records: readonly NewRecord[]): void {
    this.#records.clear();
    for (const { key, startsSnapshot } of records) if (startsSnapshot) this.#records.set(key, 0);
  }
}
