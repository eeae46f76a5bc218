/**
 * `changes` carries everything a reconciler consumes (Change, Outcome, ClusterRemoved, RemovalRelease) and `mutations` the
 * plans (PlannedMutations); both use all partitions. `requests` carries ResyncRequests, all in partition 0.
 */
export type Topic = 'changes' | 'mutations' | 'requests';

export interface BusRecord {
  /** Formatted service key. All records of one key are in one partition. */
  readonly key: string;
  /** Idempotence key: a retry of an append whose result is unknown uses the same id. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
  /**
   * The decoded payload, immutable. An in-process bus may deliver it by reference; a networked bus ignores it.
   */
  readonly message?: unknown;
}

export interface Delivery extends BusRecord {
  /**
   * Position in the partition: starts at 1 and increases by exactly one per record. A message that was sent in chunks has
   * the offset of its last chunk.
   */
  readonly offset: number;
  /**
   * Set if the record may have arrived before the log has stored it: resolves once the log has stored it at its offset, and
   * rejects with RecordNotStoredError if it did not, as `next` then does. Until it resolves, nothing may be reported or stored
   * that relies on the record.
   */
  readonly stored?: Promise<unknown> | undefined;
  /**
   * Set if the record was delivered within this process before the log has it (`Bus.deliver`). It is no part of the order of the
   * log: `offset` is 0, and no reader may store it as its position. The log delivers the record again.
   */
  readonly isEarly?: boolean;
  /** The log's copy of a record that this reader has returned early. It moves the position and needs no other work. */
  readonly isRepeated?: boolean;
}

/**
 * Offsets of appended records, as readers get them: exact for the last record of a call, and for the others unless records of another
 * process are among them. Undefined if the bus does not know them.
 */
export type AppendedOffsets = readonly number[] | undefined;

/** A position in a partition that a reader stores: just after the record with this offset and id. */
export interface StreamOffset {
  readonly offset: number;
  readonly id: string;
  /** Identity of the log (JetStream stream, Kafka topic id); changes when the log is deleted and recreated. */
  readonly streamId: string;
}

/** The position before the first record ever appended. */
export const streamStart: StreamOffset = { offset: 0, id: '', streamId: '' };

/** Sizes that a bus accepts, in bytes of payload. They can change when the bus reconnects. */
export interface BusLimits {
  /** Largest payload of one record. The adapter reserves room for key, id and headers. */
  readonly recordBytes: number;
  /** Largest message that a partition can hold when it is split into chunks. */
  readonly messageBytes: number;
}

/** Largest message that networked buses accept in chunks: readers hold it in memory, encoded and decoded. */
export const largestMessageBytes = 32 * 1024 * 1024;

/** Limits of a bus that hands over records in memory. */
export const noBusLimits: BusLimits = {
  recordBytes: Number.POSITIVE_INFINITY,
  messageBytes: Number.POSITIVE_INFINITY,
};

/**
 * Port of the message bus: topics of ordered, partitioned logs.
 *
 * - `append` resolves once the records are as durable as the bus makes them. Records of one call keep their order, as do
 *   sequential calls for one partition. It may wait while readers lag far behind (backpressure). It rejects with
 *   BusClosedError, RecordRejectedError, or an error after which the same records can be appended again. If the bus drops the last
 *   record as a repetition, its offset is that of its first occurrence, or that of a record that the same call stored.
 * - `deliver` hands the records to the reader of this process at once and appends them soon, together with others. Records of one
 *   partition and topic get into the log in the order of `deliver` and `append` calls; a plan gets there before an Outcome that
 *   was delivered after it. It suits records whose loss in a crash is repaired from the store or the cluster.
 * - Delivery is at least once: a record may be in the log repeatedly, but first occurrences keep their order.
 * - Readers store their own offset; there are no acknowledgements. A bus that keeps records only as long as they are needed
 *   deletes them after `release`.
 */
export interface Bus {
  readonly partitions: number;
  /** `append` accepts no payload that exceeds `recordBytes`; a NetworkedBus, none that exceeds `messageBytes`. */
  readonly limits: BusLimits;
  /** False while no server of the bus answers. Absent for a bus in this process. */
  readonly connected?: boolean;
  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets>;
  /**
   * Delivers records within this process. Resolves once they are stored, as `append` does. Undefined: nothing was done, because no
   * reader of this process can take them now; append them. Absent for a bus that never delivers within the process.
   *
   * @param assertCurrent called just before the append. If it throws, the records are not appended, and the promise rejects with
   *   its error: a process that was frozen must not append what the next owner has repeated.
   */
  deliver?(
    topic: Topic,
    partition: number,
    records: readonly BusRecord[],
    assertCurrent?: () => void,
  ): Promise<AppendedOffsets> | undefined;
  /** Appends now what `deliver` has delivered, in all partitions or in one. */
  flush?(partition?: number): void;
  /**
   * Declares that only this process appends new records to the partition, until the returned function is called. What a
   * former producer appends late may be delivered late. Absent if that makes no difference.
   */
  produceExclusively?(topic: Topic, partition: number): () => void;
  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader;
  /** The position just before the oldest retained record. Rejects with BusClosedError after `close`. */
  beginning(topic: Topic, partition: number): Promise<StreamOffset>;
  /** The position just after the last appended record. Rejects with BusClosedError after `close`. */
  end(topic: Topic, partition: number): Promise<StreamOffset>;
  /** Idempotent. Closes all readers; appends in flight complete or reject with BusClosedError. */
  close(): Promise<void>;
}

export interface PartitionReader {
  /**
   * Waits for at least one record and returns up to `max` records, or an empty list once closed. Call it once at a time.
   * While the bus is unreachable, it waits.
   *
   * Rejects with LogTruncatedError, on every further call too, if the log does not continue from the reader's offset: it
   * was recreated, lost its last records, or dropped records that were not read yet. It never skips a record silently.
   */
  next(max: number): Promise<readonly Delivery[]>;
  /** Stream id for a StreamOffset. Valid once `next` has returned records. */
  readonly streamId: string;
  /**
   * Reports that the effects of all records up to `offset` are stored. The bus may delete them, for other readers too.
   */
  release(offset: number): void;
  /** Idempotent. A waiting `next` returns an empty list. */
  close(): void;
}

export class BusClosedError extends Error {
  override readonly name = 'BusClosedError';
  readonly code = 'BUS_CLOSED';
}

/** Records are gone that the reader has not received. Resume at `Bus.end` and request a resync. */
export class LogTruncatedError extends Error {
  override readonly name = 'LogTruncatedError';
  readonly code = 'LOG_TRUNCATED';
}

export function isLogTruncatedError(error: unknown): error is LogTruncatedError {
  return error instanceof Error && 'code' in error && error.code === 'LOG_TRUNCATED';
}

/** A record was delivered before the log stored it, and was then not stored, or at another offset. Read from the log again. */
export class RecordNotStoredError extends Error {
  override readonly name = 'RecordNotStoredError';
  readonly code = 'RECORD_NOT_STORED';
}

export function isRecordNotStoredError(error: unknown): error is RecordNotStoredError {
  return error instanceof Error && 'code' in error && error.code === 'RECORD_NOT_STORED';
}

/** Runs `work` and closes `reader` when `signal` aborts or when `work` completes, whichever is first. */
export async function readUntilAborted<T>(
  reader: PartitionReader,
  signal: AbortSignal,
  work: (reader: PartitionReader) => Promise<T>,
): Promise<T> {
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    return await work(reader);
  } finally {
    signal.removeEventListener('abort', close);
    reader.close();
  }
}

/**
 * The bus cannot be used as configured; the message is for the operator. Each adapter defines its codes and which of them
 * are worth a retry.
 */
export class BusSetupError<Code extends string = string> extends Error {
  override readonly name = 'BusSetupError';
  readonly code: Code;

  constructor(code: Code, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function isBusSetupError(error: unknown): error is BusSetupError {
  return error instanceof Error && error.name === 'BusSetupError';
}
