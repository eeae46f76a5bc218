import { type Field, type MessageType, secondsOfText } from './message-type.ts';
import type { WireWriter } from './wire-writer.ts';

/** The object has a field that the message type does not list, or a value that it cannot hold. */
class NotEncodable extends Error {}

/**
 * Encodes an object of the Kubernetes API, given in the shape of its JSON. Returns false if the message type cannot hold
 * the object; discard the writer then.
 */
export function encodeMessage(type: MessageType, object: object, writer: WireWriter): boolean {
  try {
    message(type, object, writer);
    return true;
  } catch (error) {
    if (error instanceof NotEncodable) return false;
    throw error;
  }
}

function message(type: MessageType, object: object, writer: WireWriter): void {
  for (const name in object) {
    if (Object.hasOwn(object, name)) field(type, name, (object as Record<string, unknown>)[name], writer);
  }
}

function field(type: MessageType, name: string, value: unknown, writer: WireWriter): void {
  if (value === undefined || value === null) return;
  const number = type.numbers.get(name);
  const known = number === undefined ? undefined : type.fields[number];
  if (number === undefined || known === undefined) throw new NotEncodable();
  if (known.readOnly) return;
  if (known.kind === 'map') {
    for (const key of Object.keys(value).reverse()) {
      one(number, known, { key, value: (value as Record<string, unknown>)[key] }, writer);
    }
  } else if (!known.repeated) one(number, known, value, writer);
  else if (Array.isArray(value)) for (let i = value.length - 1; i >= 0; i--) one(number, known, value[i], writer);
  else throw new NotEncodable();
}

function one(number: number, { kind, type }: Field, value: unknown, writer: WireWriter): void {
  if (kind === 'integer' || kind === 'boolean') {
    if (typeof value !== (kind === 'integer' ? 'number' : 'boolean')) throw new NotEncodable();
    writer.integer(Number(value));
    writer.integer(number << 3);
    return;
  }
  const before = writer.length;
  if (kind === 'string' && typeof value === 'string') writer.text(value);
  else if (kind === 'bytes' && Buffer.isBuffer(value)) writer.bytes(value);
  else if (kind === 'time' && typeof value === 'string') seconds(value, writer);
  else if (type !== undefined && typeof value === 'object' && value !== null) message(type, value, writer);
  else throw new NotEncodable();
  writer.integer(writer.length - before);
  writer.integer((number << 3) | 2);
}

function seconds(text: string, writer: WireWriter): void {
  const value = secondsOfText(text);
  if (value === undefined) throw new NotEncodable();
  writer.integer(value);
  writer.integer(1 << 3);
}
