import type { BusRecord, Delivery, PartitionReader, StreamOffset } from '@sluice/bus';

/** Records with the ids `prefix` + `from` … `prefix` + `to`; the payload is the id, padded to `size` bytes. */
export function records(prefix: string, from: number, to: number, size = 0): BusRecord[] {
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    key: prefix,
    id: `${prefix}${from + i}`,
    headers: {},
    payload: new TextEncoder().encode(`${prefix}${from + i}`.padEnd(size)),
  }));
}

export function ids(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}

/** Reads `count` records, or fewer if the reader is closed. */
export async function take(reader: PartitionReader, count: number): Promise<Delivery[]> {
  const all: Delivery[] = [];
  while (all.length < count) {
    const next = await reader.next(count - all.length);
    if (next.length === 0) break;
    all.push(...next);
  }
  return all;
}

/**
 * Reads up to the record with this id.
 *
 * @throws Error if the reader is closed first, because a closed reader returns empty lists forever
 */
export async function takeUntil(reader: PartitionReader, last: string): Promise<Delivery[]> {
  const all: Delivery[] = [];
  while (all.at(-1)?.id !== last) {
    const next = await reader.next(100);
    if (next.length === 0) throw new Error(`the reader was closed after ${all.length} records, before ${last}`);
    all.push(...next);
  }
  return all;
}

export function after({ streamId }: PartitionReader, delivery: Delivery | undefined): StreamOffset {
  if (delivery === undefined) throw new Error('no record was read');
  return { offset: delivery.offset, id: delivery.id, streamId };
}
