import { headers as emptyHeaders, type MsgHdrs } from '@nats-io/nats-core';
import type { BusRecord, Delivery } from '../index.ts';

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

/** A header name or value that would end its line, or that is an instruction to the server. */
const isForbidden = (name: string, value: string): boolean =>
  /[\r\n]/.test(value) || !/^[!-9;-~]+$/.test(name) || name.toLowerCase().startsWith('nats-');

/**
 * Upper bound of the size of the message with its headers, in bytes, or why JetStream can never store the record: that size, or a
 * header.
 */
export function boundedSize(record: BusRecord, maxPayload: number): number | string {
  const { id, key, headers, payload } = record;
  if (/[\r\n]/.test(key + id) || Object.entries(headers).some(([name, value]) => isForbidden(name, value)))
    return 'a header has a line break or a reserved name';
  const text = headerText(record);
  // A UTF-16 code unit takes up to 3 bytes. The exact count is rarely needed.
  const atMost = overhead + text.length * 3;
  const bound = payload.length + atMost;
  if (bound <= maxPayload && atMost <= maxHeaderBytes) return bound;
  const headerBytes = overhead + encoder.encode(text).length;
  if (headerBytes > maxHeaderBytes) return `${headerBytes} bytes of headers exceed ${maxHeaderBytes}`;
  const size = payload.length + headerBytes;
  if (size <= maxPayload) return size;
  return `${size} bytes with its headers exceed max_payload of the NATS server (${maxPayload})`;
}

function headerText({ id, key, headers }: BusRecord): string {
  let text = `${id}${key}`;
  for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
  return text;
}
