import { crc32 } from 'node:zlib';
import type { BusRecord, Delivery } from './bus.ts';

/** Header of a chunk: index from 0, number of chunks, bytes and CRC-32 of the whole payload, separated by slashes. */
const chunkHeader = 'Sluice-Chunk';

/** Position of a chunk in its message. */
export interface Chunk {
  readonly index: number;
  readonly count: number;
  /** Size of the whole payload. */
  readonly bytes: number;
  /** CRC-32 of the whole payload. */
  readonly checksum: number;
}

/**
 * Splits a record into records of at most `chunkBytes`, or returns it alone if it is not larger. The same record always
 * gives the same chunks. The last chunk has the record's id, so that the id of the message marks a position in the log.
 */
export function splitRecord(record: BusRecord, chunkBytes: number): readonly BusRecord[] {
  const { payload } = record;
  const bytes = payload.length;
  if (bytes <= chunkBytes) return [record];
  const count = Math.ceil(bytes / chunkBytes);
  const checksum = crc32(payload);
  return Array.from({ length: count }, (_, index) => ({
    key: record.key,
    id: index === count - 1 ? record.id : `${record.id}/chunk/${checksum}/${index}-${count}`,
    headers: { ...record.headers, [chunkHeader]: [index, count, bytes, checksum].join('/') },
    payload: payload.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  }));
}

/** Undefined if the record is a message of its own. */
export function chunkOf({ headers }: Delivery): Chunk | undefined {
  const text = headers[chunkHeader];
  if (text === undefined) return undefined;
  const [index = 0, count = 0, bytes = 0, checksum = 0] = text.split('/').map(Number);
  return { index, count, bytes, checksum };
}

/**
 * The message whose last chunk is given, with its offset and id. Undefined if the chunks do not match the checksum.
 */
export function joinChunks(payloads: readonly Uint8Array[], { checksum }: Chunk, last: Delivery): Delivery | undefined {
  const payload = Buffer.concat(payloads);
  if (crc32(payload) !== checksum) return undefined;
  const { [chunkHeader]: _, ...headers } = last.headers;
  return { key: last.key, id: last.id, offset: last.offset, headers, payload };
}
