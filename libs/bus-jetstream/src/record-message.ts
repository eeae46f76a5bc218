import { headers as emptyHeaders, type MsgHdrs } from '@nats-io/nats-core';
import { type BusRecord, type Delivery, RecordTooLargeError } from '@sluice/bus';

export const idHeader = 'Nats-Msg-Id';
const keyHeader = 'Sluice-Key';
/** Prefix of the headers that belong to NATS. */
const serverPrefix = 'Nats-';

/** Throws if a header name or value contains a line break. */
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

/** Upper bound of the header line and the header names. */
const overhead = 512;

const encoder = new TextEncoder();

/** JetStream stores no message with longer headers, in bytes. */
const maxHeaderBytes = 65_535;

/** @throws RecordTooLargeError if the message with its headers exceeds `maxPayload` bytes, or its headers what JetStream stores */
export function checkSize({ id, key, headers, payload }: BusRecord, maxPayload: number): void {
  let texts = `${id}${key}`;
  for (const [name, value] of Object.entries(headers)) texts += `${name}: ${value}\r\n`;
  const without = payload.length + overhead;
  // A UTF-16 code unit takes up to 3 bytes. The exact count is rarely needed.
  const atMost = overhead + texts.length * 3;
  if (payload.length + atMost <= maxPayload && atMost <= maxHeaderBytes) return;
  const textBytes = encoder.encode(texts).length;
  const headerBytes = overhead + textBytes;
  if (headerBytes > maxHeaderBytes) {
    const record = `record ${id.slice(0, 100)}…`;
    throw new RecordTooLargeError(`${record} has ${headerBytes} bytes of headers, more than ${maxHeaderBytes}`);
  }
  const size = without + textBytes;
  if (size <= maxPayload) return;
  throw new RecordTooLargeError(
    `record ${id} has ${size} bytes with its headers, more than max_payload of the NATS server (${maxPayload})`,
  );
}
