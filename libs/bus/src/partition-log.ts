import type { Delivery, PartitionReader, StreamOffset } from './bus.ts';

/** One partition of a topic, with those who read it. */
export abstract class PartitionLog {
  readonly #readers = new Set<LogReader>();

  /** It changes when the log is made anew. */
  abstract get incarnation(): string;
  /** Just before the first record that is kept. */
  abstract oldest(): StreamOffset;
  /** Just after the last record. */
  abstract end(): StreamOffset;
  /** What comes after a cursor. Throws LogTruncatedError if it is not all there, or does not follow. */
  abstract after(cursor: StreamOffset, max: number): readonly Delivery[];
  /** Nobody needs what is up to this offset. */
  abstract release(offset: number): void;

  reader(after: StreamOffset): PartitionReader {
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
  readonly streamId: string;
  readonly #log: PartitionLog;
  readonly #onClose: () => void;
  #cursor: StreamOffset;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionLog, after: StreamOffset, onClose: () => void) {
    this.#log = log;
    this.streamId = log.incarnation;
    this.#cursor = { ...after, streamId: after.streamId === '' ? this.streamId : after.streamId };
    this.#onClose = onClose;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#cursor, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#cursor = { offset: last.offset, id: last.id, streamId: this.streamId };
        return records;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(offset: number): void {
    this.#log.release(offset);
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
