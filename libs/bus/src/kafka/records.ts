import type { BusRecord, Delivery } from '../index.ts';
import type { WireMessage, WireRecord } from './kafkajs-internals.ts';

/** The header that carries a record's id. */
const idHeader = 'sluice-id';

/** Upper bounds, in bytes, of what the record batch format adds to a batch, a record and a header. */
const batchOverhead = 61;
const recordOverhead = 32;
const headerOverhead = 10;

export function toMessage({ key, id, headers, payload }: BusRecord): WireMessage {
  const value = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return { key, value, headers: { ...headers, [idHeader]: id } };
}

/** Upper bound of the message's size in a batch, in bytes. */
export function messageBytes({ key, value, headers }: WireMessage): number {
  let bytes = recordOverhead + Buffer.byteLength(key) + value.length;
  for (const [name, text] of Object.entries(headers)) {
    bytes += headerOverhead + Buffer.byteLength(name) + Buffer.byteLength(text);
  }
  return bytes;
}

/** Bytes that one batch has for its messages. */
export function batchCapacity(maxMessageBytes: number): number {
  return maxMessageBytes - batchOverhead;
}

/** The record's `Delivery.offset`, which is Kafka's offset + 1. */
export function offsetOf({ offset: kafkaOffset }: WireRecord): number {
  return Number(kafkaOffset) + 1;
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
    offset: offsetOf(record),
    key: record.key?.toString() ?? '',
    id,
    headers,
    payload: record.value ?? new Uint8Array(),
  };
}
