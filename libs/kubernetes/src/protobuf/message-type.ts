import { InternTable } from './text-table.ts';

/** The encoding of a field's value on the wire and in JSON. */
type FieldKind =
  | 'string'
  /** int32 or int64. */
  | 'integer'
  | 'boolean'
  /** A map with strings as keys; the message type of its entries has the type of the values. */
  | 'map'
  /** meta/v1 Time: RFC 3339 in UTC with whole seconds in JSON. */
  | 'time'
  /** A number or a string in JSON. */
  | 'intOrString'
  /** A string in JSON. */
  | 'quantity'
  | 'message'
  /** A nested message that is decoded separately. */
  | 'bytes';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** The field is a list of such values. */
  readonly repeated: boolean;
  /** A zero value is kept, as in JSON where Go has a pointer or no `omitempty`. */
  readonly kept: boolean;
  /** A missing value is null in JSON. */
  readonly nullable: boolean;
  /** Not encoded: the server maintains it, whatever a write contains. */
  readonly readOnly: boolean;
  /** The type of a message, or of the entries of a map. */
  readonly type: MessageType | undefined;
}

export interface MessageType {
  /** By field number. */
  readonly fields: readonly (Field | undefined)[];
  /** Field numbers by JSON name. */
  readonly numbers: ReadonlyMap<string, number>;
  /** JSON names of the nullable fields. */
  readonly nullable: readonly string[];
  /**
   * All fields are listed, and an unlisted one is reported, because writing the object back would lose it. Other message
   * types list only the fields that Sluice reads.
   */
  readonly closed: boolean;
  /** Set if equal messages are decoded once. */
  readonly interned: InternTable | undefined;
}

type Fields = Readonly<Record<number, Field>>;

/** A message type of which only the listed fields are read. */
export function projectionOf(fields: Fields): MessageType {
  return messageType(fields, false);
}

/** A message type with every field listed, so that messages can be written. */
export function wholeMessage(fields: Fields): MessageType {
  return messageType(fields, true);
}

/** The same for messages that most versions of an object repeat unchanged. */
export function internedMessage(fields: Fields): MessageType {
  return { ...messageType(fields, true), interned: new InternTable() };
}

function messageType(fields: Fields, closed: boolean): MessageType {
  const byNumber: (Field | undefined)[] = [];
  const numbers = new Map<string, number>();
  for (const [key, field] of Object.entries(fields)) {
    // No holes: an array with holes is slow to read.
    while (byNumber.length < Number(key)) byNumber.push(undefined);
    byNumber.push(field);
    numbers.set(field.name, Number(key));
  }
  const nullable = Object.values(fields).flatMap(({ name, nullable }) => (nullable ? [name] : []));
  return { fields: byNumber, numbers, nullable, closed, interned: undefined };
}

function field(name: string, kind: FieldKind, more: Partial<Field> = {}): Field {
  return { name, kind, repeated: false, kept: false, nullable: false, readOnly: false, type: undefined, ...more };
}

export const text = (name: string): Field => field(name, 'string');
export const keptText = (name: string): Field => field(name, 'string', { kept: true });
export const texts = (name: string): Field => field(name, 'string', { kept: true, repeated: true });
export const integer = (name: string): Field => field(name, 'integer');
export const keptInteger = (name: string): Field => field(name, 'integer', { kept: true });
export const boolean = (name: string): Field => field(name, 'boolean');
export const keptBoolean = (name: string): Field => field(name, 'boolean', { kept: true });
export const time = (name: string): Field => field(name, 'time');
export const intOrString = (name: string): Field => field(name, 'intOrString', { kept: true });
export const bytes = (name: string): Field => field(name, 'bytes', { kept: true });
export const one = (name: string, type: MessageType): Field => field(name, 'message', { type });
export const many = (name: string, type: MessageType): Field => field(name, 'message', { type, repeated: true });
export const readOnlyMany = (name: string, type: MessageType): Field => ({ ...many(name, type), readOnly: true });
export const nullableMany = (name: string, type: MessageType): Field => ({ ...many(name, type), nullable: true });

const mapOf = (value: Field): MessageType => wholeMessage({ 1: keptText('key'), 2: value });
const stringEntry = mapOf(keptText('value'));
const quantityEntry = mapOf(field('value', 'quantity'));
export const stringMap = (name: string): Field => field(name, 'map', { type: stringEntry });
export const quantityMap = (name: string): Field => field(name, 'map', { type: quantityEntry });

const slots = 256;
const knownSeconds: number[] = new Array<number>(slots).fill(Number.NaN);
const knownTexts: string[] = new Array<string>(slots).fill('');

/** Formats seconds since the Unix epoch as RFC 3339. Caches recent values: conditions, managers and objects share them. */
export function textOfSeconds(seconds: number): string {
  const slot = Math.abs(seconds) % slots;
  if (knownSeconds[slot] === seconds) return knownTexts[slot] ?? '';
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  const text = `${date.toISOString().slice(0, -5)}Z`;
  knownSeconds[slot] = seconds;
  knownTexts[slot] = text;
  return text;
}

/** Returns undefined if the text is not a time. */
export function secondsOfText(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
