import type { Logger } from '@sluice/platform';
import { type AppendedOffsets, type Bus, type BusRecord, recordId, type Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';

/**
 * A bus on which no record stops those after it. A marker replaces a record that the bus can never store. Readers
 * dead-letter the marker and have the Service resynced or its plan redelivered (ADR 0083).
 */
export class RejectedRecordsBus extends ForwardingBus {
  readonly #logger: Logger;

  constructor(inner: Bus, { logger }: { readonly logger: Logger }) {
    super(inner);
    this.#logger = logger;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const offsets: number[] = [];
    for (let rest = records; ; ) {
      const { recordBytes } = this.limits;
      try {
        const appended = await this.inner.append(topic, partition, rest);
        return appended && [...offsets, ...appended];
      } catch (error) {
        if (!isRecordRejectedError(error)) throw error;
        rest = rest.slice(error.offsets.length);
        offsets.push(...error.offsets);
        const [rejected, ...others] = rest;
        if (rejected === undefined || rejectionOf(rejected) !== undefined) throw error;
        // The bus has just learned of a lower limit, and splits the record accordingly.
        if (this.limits.recordBytes < recordBytes) continue;
        const marker = markRejected(rejected, error.message);
        const { key, id } = marker;
        this.#logger.error('bus rejected record', { topic, partition, key, id, reason: error.message });
        rest = [marker, ...others];
      }
    }
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
