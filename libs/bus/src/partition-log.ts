import type { Delivery, PartitionReader, StreamOffset } from './bus.ts';

/** One partition of a topic, with its readers. */
export abstract class PartitionLog {
  readonly #readers = new Set<LogReader>();

  /** Changes when the log is recreated. */
  abstract get streamId(): string;
  /** The position just before the oldest retained record. */
  abstract beginning(): StreamOffset;
  /** The position just after the last record. */
  abstract end(): StreamOffset;
  /** Returns up to `max` records after `offset`. Throws LogTruncatedError if the log does not continue from there. */
  abstract after(offset: StreamOffset, max: number): readonly Delivery[];
  /** Allows the log to delete records up to `offset`. */
  abstract release(offset: number): void;

  reader(after: StreamOffset): PartitionReader {
    const reader: LogReader = new LogReader(this, after, () => this.#readers.delete(reader));
    this.#readers.add(reader);
    return reader;
  }

  /** Closes all readers. */
  close(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  /** Wakes waiting readers to check the log again. */
  protected changed(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

class LogReader implements PartitionReader {
  readonly streamId: string;
  readonly #log: PartitionLog;
  readonly #onClose: () => void;
  #offset: StreamOffset;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionLog, after: StreamOffset, onClose: () => void) {
    this.#log = log;
    this.streamId = log.streamId;
    this.#offset = { ...after, streamId: after.streamId === '' ? this.streamId : after.streamId };
    this.#onClose = onClose;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#offset, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#offset = { offset: last.offset, id: last.id, streamId: this.streamId };
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
