import { createHash } from 'node:crypto';
import type { AppendedOffsets, BusRecord, Delivery } from './bus.ts';

/** Enough for all ids whose parts are names that Kubernetes accepts. */
const maxLength = 512;

/** Printable ASCII without a space, which every bus carries unchanged in a header. */
const printable = /^[\x21-\x7e]*$/;

/**
 * The id of a record: its parts, or a hash of them if they are too long or a header cannot carry them. Parts come from API servers
 * and from other processes, and an id is part of every record's header.
 */
export function recordId(...parts: readonly (string | number)[]): string {
  const text = parts.join('/');
  if (text.length <= maxLength && printable.test(text)) return text;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** A delivery of this process that did not come from servers: it has the message. Encodes the payload only when it is read. */
export class DeliveryByReference implements Delivery {
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
  readonly offset: number;
  readonly stored: Promise<unknown> | undefined;
  readonly isEarly: boolean;
  readonly #record: BusRecord;

  constructor(record: BusRecord, { offset, stored, isEarly = false }: Pick<Delivery, 'offset' | 'stored' | 'isEarly'>) {
    this.key = record.key;
    this.id = record.id;
    this.headers = record.headers;
    this.message = record.message;
    this.offset = offset;
    this.stored = stored;
    this.isEarly = isEarly;
    this.#record = record;
  }

  get payload(): Uint8Array {
    return this.#record.payload;
  }
}

/** The bus can never store a record, however often it is appended. The records before it are stored. */
export class RecordRejectedError extends Error {
  override readonly name = 'RecordRejectedError';
  readonly code = 'RECORD_REJECTED';
  /** Offsets of the records of the same call before the rejected one, NaN if unknown. None after it is stored. */
  readonly offsets: readonly number[];

  constructor(reason: string, offsets: readonly number[]) {
    super(reason);
    this.offsets = offsets;
  }
}

export function isRecordRejectedError(error: unknown): error is RecordRejectedError {
  return error instanceof Error && 'code' in error && error.code === 'RECORD_REJECTED';
}

/**
 * Appends the records before the first one for which `problemOf` returns a reason.
 *
 * @throws RecordRejectedError if there is one
 */
export async function appendAcceptable(
  records: readonly BusRecord[],
  problemOf: (record: BusRecord) => string | undefined,
  append: (records: readonly BusRecord[]) => Promise<AppendedOffsets>,
): Promise<AppendedOffsets> {
  for (const [index, record] of records.entries()) {
    const problem = problemOf(record);
    if (problem === undefined) continue;
    const offsets = index === 0 ? [] : await append(records.slice(0, index));
    throw new RecordRejectedError(problem, offsets ?? new Array<number>(index).fill(Number.NaN));
  }
  return await append(records);
}

/** Why a payload of more than `maxBytes` is rejected. Without a limit no payload is read, which would encode it. */
export function oversizedPayload(maxBytes: number): (record: BusRecord) => string | undefined {
  if (maxBytes === Number.POSITIVE_INFINITY) return () => undefined;
  return ({ payload: { length } }) =>
    length <= maxBytes ? undefined : `payload of ${length} bytes exceeds the limit of ${maxBytes}`;
}

/** Header of a record that stands in the log for one that the bus rejected: the reason. */
const rejectedHeader = 'Sluice-Rejected';
const maxReasonLength = 200;

/** What the log stores instead of a rejected record. Readers dead-letter it, so none of them misses that a record is gone. */
export function markRejected({ key, id }: BusRecord, reason: string): BusRecord {
  const text = reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxReasonLength);
  return { key: recordId(key), id: recordId(id), headers: { [rejectedHeader]: text }, payload: new Uint8Array() };
}

/** Why the bus rejected the record for which this one stands; undefined if it stands for none. */
export function rejectionOf({ headers }: Pick<BusRecord, 'headers'>): string | undefined {
  return headers[rejectedHeader];
}

/** @throws TypeError if the record stands for one that the bus rejected */
export function assertNotRejected(record: Pick<BusRecord, 'headers'>): void {
  const reason = rejectionOf(record);
  if (reason !== undefined) throw new TypeError(`the bus rejected the record: ${reason}`);
}
