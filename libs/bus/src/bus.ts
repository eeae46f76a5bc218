/**
 * `changes` holds Change and Outcome, `mutations` holds PlannedMutations; both have all partitions. `requests` asks the
 * watchers to tell things again; all of it is in partition 0.
 */
export type Topic = 'changes' | 'mutations' | 'requests';

export interface BusRecord {
  /** Formatted service key; all records of one key are in one partition. */
  readonly key: string;
  /** Names the record for good: publishing it again after a doubtful answer uses the same id. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
  /**
   * What the payload says, as it was made in this process; it is never changed. A bus may hand it on within the process;
   * one that moves bytes leaves it out.
   */
  readonly message?: unknown;
}

export interface Delivery extends BusRecord {
  /** Rises by exactly one from record to record of a partition; the first is 1. */
  readonly offset: number;
}

/** A place in one partition, as a reader remembers it: just after the record of that offset and id. */
export interface StreamOffset {
  readonly offset: number;
  readonly id: string;
  /** Incarnation of the log; it changes when the log is deleted and made again. */
  readonly streamId: string;
}

/** Before the first record ever appended. */
export const streamStart: StreamOffset = { offset: 0, id: '', streamId: '' };

/**
 * The message bus, as a port: topics of ordered, partitioned logs.
 *
 * - `append` resolves when the records are kept as safely as the bus keeps anything. Records of one call keep their
 *   order, as do calls for one partition that are awaited one after the other. It may wait while readers are far behind
 *   (backpressure). It rejects with BusClosedError, RecordTooLargeError, or what may be mended by appending the same
 *   records again.
 * - A record may be in the log more than once; the first ones of a partition come in order.
 * - Reading starts after a cursor, which the reader remembers itself: there are no acknowledgements. A bus that keeps
 *   records only as long as they are needed goes by `release`.
 */
export interface Bus {
  readonly partitions: number;
  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void>;
  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader;
  /** Just before the oldest record that is still kept: what follows is all that can be read. Rejects as `end` does. */
  beginning(topic: Topic, partition: number): Promise<StreamOffset>;
  /** Just after the last record appended by now. Rejects with BusClosedError after `close`. */
  end(topic: Topic, partition: number): Promise<StreamOffset>;
  /** Idempotent. Ends all waiting: appends under way settle or reject with BusClosedError, readers are closed. */
  close(): Promise<void>;
}

export interface PartitionReader {
  /**
   * Waits for at least one record and returns up to `max`; an empty list once closed. One call at a time. A bus that is
   * away is waited for.
   *
   * Rejects with LogTruncatedError, and goes on doing so, once the log does not follow from the cursor: it was made anew, it
   * lost its last records, or records that were not read yet are gone. It never leaves out a record silently.
   */
  next(max: number): Promise<readonly Delivery[]>;
  /** Incarnation of the log, for a cursor. Known once `next` has returned records. */
  readonly streamId: string;
  /**
   * Nothing up to this offset will be asked for again: what it led to is stored. The bus may drop it, for other readers
   * too.
   */
  release(offset: number): void;
  /** Idempotent. A waiting `next` returns an empty list. */
  close(): void;
}

export class BusClosedError extends Error {
  override readonly name = 'BusClosedError';
  readonly code = 'BUS_CLOSED';
}

export class RecordTooLargeError extends Error {
  override readonly name = 'RecordTooLargeError';
  readonly code = 'RECORD_TOO_LARGE';
}

/** Records that a reader has not had are gone. Go on at `Bus.end` and have everything told again. */
export class LogTruncatedError extends Error {
  override readonly name = 'LogTruncatedError';
  readonly code = 'LOG_TRUNCATED';
}

export function isLogTruncatedError(error: unknown): error is LogTruncatedError {
  return error instanceof Error && 'code' in error && error.code === 'LOG_TRUNCATED';
}
