import type { BusRecord } from '@sluice/bus';

/** The messages of records that are sent together, in the order of their last records: those in chunks as one record each. */
export function joined(records: readonly BusRecord[]): readonly BusRecord[] {
  const parts: Uint8Array[] = [];
  return records.flatMap((record) => {
    const { [chunkHeader]: chunk, ...headers } = record.headers;
    if (chunk === undefined) return [record];
    parts.push(record.payload);
    // The last chunk has the id of the message.
    if (record.id.includes('/chunk/')) return [];
    return [{ ...record, headers, payload: Buffer.concat(parts.splice(0)) }];
  });
}

const chunkHeader = 'Sluice-Chunk';
