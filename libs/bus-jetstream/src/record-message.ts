import { headers as emptyHeaders, type MsgHdrs } from '@nats-io/nats-core';
import { type BusRecord, type Delivery, RecordTooLargeError } from '@sluice/bus';

export const idHeader = 'Nats-Msg-Id';
const keyHeader = 'Sluice-Key';
/** Headers that begin so are NATS' own. */
const serverPrefix = 'Nats-';

/** The headers of a record's message. Throws if a name or value cannot be a header: they hold one line of text. */
export function recordHeaders({ id, key, headers }: BusRecord): MsgHdrs {
  const all = emptyHeaders();
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  all.set(keyHeader, key);
  all.set(idHeader, id);
  return all;
}

export function toDelivery(offset: number, headers: MsgHdrs | undefined, payload: Uint8Array): Delivery {
  let id = '';
  let key = '';
  const rest: Record<string, string> = {};
  for (const [name, [value = '']] of headers ?? []) {
    if (name === idHeader) id = value;
    else if (name === keyHeader) key = value;
    else if (!name.startsWith(serverPrefix)) rest[name] = value;
  }
  return { offset, id, key, headers: rest, payload };
}

/** Room for the header line, the names of our headers, and those of a batch or chain, which repeats an id. */
const overhead = 512;

const encoder = new TextEncoder();

/** @throws RecordTooLargeError when its message would be larger than the server takes */
export function checkSize({ id, key, headers, payload }: BusRecord, maxPayload: number): void {
  let texts = `${id}${id}${key}`;
  for (const [name, value] of Object.entries(headers)) texts += `${name}: ${value}\r\n`;
  const without = payload.length + overhead;
  // A character takes up to 3 bytes; counting them is rarely needed.
  if (without + texts.length * 3 <= maxPayload) return;
  const size = without + encoder.encode(texts).length;
  if (size <= maxPayload) return;
  throw new RecordTooLargeError(
    `record ${id} takes ${size} bytes with its headers; the NATS server takes ${maxPayload} (max_payload)`,
  );
}
