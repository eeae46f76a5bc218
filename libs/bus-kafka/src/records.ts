import type { BusRecord, Delivery } from '@sluice/bus';
import type { WireRecord } from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import type { WireMessage } from 'kafkajs/src/protocol/requests/produce/v7/request.js';

/** The header that carries a record's id. */
const idHeader = 'sluice-id';

/** What Kafka writes around a batch, and at most around a record and a header, in bytes. */
const batchOverhead = 61;
const recordOverhead = 32;
const headerOverhead = 10;

export function toMessage({ key, id, headers, payload }: BusRecord): WireMessage {
  const value = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return { key, value, headers: { ...headers, [idHeader]: id } };
}

/** Bytes that the message takes at most in a batch. */
export function messageBytes({ key, value, headers }: WireMessage): number {
  let bytes = recordOverhead + Buffer.byteLength(key) + value.length;
  for (const [name, text] of Object.entries(headers)) {
    bytes += headerOverhead + Buffer.byteLength(name) + Buffer.byteLength(text);
  }
  return bytes;
}

/** What is left for the messages of one batch. */
export function batchCapacity(maxMessageBytes: number): number {
  return maxMessageBytes - batchOverhead;
}

/** The offset that the record has. */
export function offsetAfter({ offset }: WireRecord): number {
  return Number(offset) + 1;
}

export function toDelivery(record: WireRecord): Delivery {
  const headers: Record<string, string> = {};
  let id = '';
  for (const [name, value] of Object.entries(record.headers)) {
    const text = (Array.isArray(value) ? value.at(-1) : value)?.toString() ?? '';
    if (name === idHeader) id = text;
    else headers[name] = text;
  }
  return {
    offset: offsetAfter(record),
    key: record.key?.toString() ?? '',
    id,
    headers,
    payload: record.value ?? new Uint8Array(),
  };
}
