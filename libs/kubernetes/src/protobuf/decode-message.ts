import {
  type Field,
  integer,
  keptInteger,
  type MessageType,
  projectionOf,
  text,
  textOfSeconds,
} from './message-type.ts';
import type { InternTable, TextTable } from './text-table.ts';
import { MalformedProtobufError, WireReader } from './wire-reader.ts';

type JsonObject = Record<string, unknown>;

interface Decoded {
  /** In the shape of its JSON. */
  readonly object: JsonObject;
  /** A message type with all fields listed met an unlisted one. */
  readonly isPartial: boolean;
}

/**
 * Limit of values per message. Two bytes on the wire can become an object in memory; etcd's limit of 1.5 MiB per object
 * leaves room for fewer than this.
 */
const maxValues = 1_000_000;

/**
 * Decodes a message of the Kubernetes API into the shape of its JSON.
 * @throws MalformedProtobufError also for more than a million values
 */
export function decodeMessage(type: MessageType, bytes: Buffer, texts: TextTable): Decoded {
  const decoder = new Decoder(bytes, texts);
  const object = decoder.message(type, bytes.length);
  return { object, isPartial: decoder.isPartial };
}

const timeType = projectionOf({ 1: keptInteger('seconds') });
const intOrStringType = projectionOf({ 1: integer('type'), 2: keptInteger('number'), 3: text('text') });
const quantityType = projectionOf({ 1: text('text') });

class Decoder {
  isPartial = false;
  readonly #reader: WireReader;
  #values = 0;

  constructor(bytes: Buffer, texts: TextTable) {
    this.#reader = new WireReader(bytes, texts);
  }

  message(type: MessageType, end: number): JsonObject {
    const reader = this.#reader;
    const object: JsonObject = {};
    while (reader.position < end) {
      const tag = reader.integer();
      const field = type.fields[tag >>> 3];
      if (++this.#values > maxValues) throw new MalformedProtobufError(`more than ${maxValues} values`);
      if (field === undefined) {
        if (type.closed) this.isPartial = true;
        reader.skip(tag & 7);
      } else if ((tag & 7) === wireTypeOf(field)) this.#read(object, field);
      else throw new MalformedProtobufError(`${field.name} has wire type ${tag & 7}`);
    }
    if (reader.position > end) throw new MalformedProtobufError('a message ends inside a value');
    for (const name of type.nullable) object[name] ??= null;
    return object;
  }

  #read(object: JsonObject, field: Field): void {
    const { name, kind } = field;
    if (kind === 'map') {
      object[name] ??= {};
      const map = object[name] as JsonObject;
      const { key, value } = this.#nested(field) as { key?: string; value?: unknown };
      // Assigning to __proto__ would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(map, key, { value: value ?? '', enumerable: true, configurable: true, writable: true });
      else map[key ?? ''] = value ?? '';
      return;
    }
    const value = this.#value(field);
    if (field.repeated) {
      const list = object[name] as unknown[] | undefined;
      if (list === undefined) object[name] = [value];
      else list.push(value);
    } else if (field.kept || (value !== '' && value !== 0 && value !== false)) object[name] = value;
  }

  #value(field: Field): unknown {
    switch (field.kind) {
      case 'string':
        return this.#reader.text();
      case 'integer':
        return this.#reader.integer();
      case 'boolean':
        return this.#reader.integer() !== 0;
      case 'bytes':
        return this.#reader.slice();
      default:
        return this.#nested(field);
    }
  }

  #nested({ kind, type }: Field): unknown {
    const length = this.#reader.length();
    const end = this.#reader.position + length;
    if (type?.interned !== undefined) return this.#interned(type, type.interned, end);
    if (type !== undefined) return this.message(type, end);
    if (kind === 'time') {
      const { seconds } = this.message(timeType, end) as { seconds?: number };
      return seconds === undefined ? '' : textOfSeconds(seconds);
    }
    if (kind === 'quantity') return this.message(quantityType, end).text ?? '0';
    const { type: isText, number, text } = this.message(intOrStringType, end);
    return isText === 1 ? (text ?? '') : (number ?? 0);
  }

  #interned(type: MessageType, table: InternTable, end: number): object {
    const reader = this.#reader;
    const key = table.key(reader.bytes, reader.position, end);
    const known = key === undefined ? undefined : table.get(key);
    if (known !== undefined) {
      reader.position = end;
      return known;
    }
    const message = this.message(type, end);
    if (key !== undefined && !this.isPartial) table.add(key, message);
    return message;
  }
}

/** 0: a varint; 2: a length, then that many bytes. */
function wireTypeOf({ kind }: Field): 0 | 2 {
  return kind === 'integer' || kind === 'boolean' ? 0 : 2;
}
