import type { Cursor, Delivery, PartitionReader } from './bus.ts';

/** One partition of a topic, with those who read it. */
export abstract class PartitionLog {
  readonly #readers = new Set<LogReader>();

  /** It changes when the log is made anew. */
  abstract get incarnation(): string;
  /** Just before the first record that is kept. */
  abstract oldest(): Cursor;
  /** Just after the last record. */
  abstract end(): Cursor;
  /** What comes after a cursor. Throws LogLostError if it is not all there, or does not follow. */
  abstract after(cursor: Cursor, max: number): readonly Delivery[];
  /** Nobody needs what is up to this position. */
  abstract release(position: number): void;

  reader(after: Cursor): PartitionReader {
    const reader: LogReader = new LogReader(this, after, () => this.#readers.delete(reader));
    this.#readers.add(reader);
    return reader;
  }

  /** Ends all reading. */
  close(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  /** Something happened to the log: those who wait look again. */
  protected changed(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

class LogReader implements PartitionReader {
  readonly log: string;
  readonly #log: PartitionLog;
  readonly #onClose: () => void;
  #cursor: Cursor;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionLog, after: Cursor, onClose: () => void) {
    this.#log = log;
    this.log = log.incarnation;
    this.#cursor = { ...after, log: after.log === '' ? this.log : after.log };
    this.#onClose = onClose;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#cursor, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#cursor = { position: last.position, id: last.id, log: this.log };
        return records;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(position: number): void {
    this.#log.release(position);
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#onClose();
    this.wake();
  }
}
