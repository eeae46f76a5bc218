/** How the value of a field stands on the wire and in the JSON form of the same object. */
export type FieldKind =
  | 'string'
  /** int32 or int64. */
  | 'integer'
  | 'boolean'
  /** A map with texts as keys; the entry's message type tells of its values. */
  | 'map'
  /** meta/v1 Time: RFC 3339 in UTC with whole seconds in JSON. */
  | 'time'
  /** A number or a text in JSON. */
  | 'intOrString'
  /** A text in JSON. */
  | 'quantity'
  | 'message'
  /** Of something that is read for itself. */
  | 'bytes'
  /** Known, and not read. */
  | 'ignored';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** A list of such values. */
  readonly repeated: boolean;
  /** A zero value is told as well, as JSON does where Go has a pointer or no `omitempty`. */
  readonly kept: boolean;
  /** JSON says null where there is none. */
  readonly nullable: boolean;
  /** Of messages, and of the entries of a map. */
  readonly type: MessageType | undefined;
}

export interface MessageType {
  /** By field number. */
  readonly fields: readonly (Field | undefined)[];
  /** By the name in JSON. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Names of those that are null in JSON where there are none. */
  readonly nullable: readonly string[];
  /**
   * All fields are listed, and one that is not is told: the object would lose it when it is written back. Of other
   * messages only what Sluice reads is listed.
   */
  readonly closed: boolean;
}

type Fields = Readonly<Record<number, Field>>;

/** A message of which only the listed fields are read. */
export function projectionOf(fields: Fields): MessageType {
  return messageType(fields, false);
}

/** A message of which every field is listed, so that it can be written. */
export function wholeMessage(fields: Fields): MessageType {
  return messageType(fields, true);
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
  return { fields: byNumber, numbers, nullable, closed };
}

function field(name: string, kind: FieldKind, more: Partial<Field> = {}): Field {
  return { name, kind, repeated: false, kept: false, nullable: false, type: undefined, ...more };
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
export const ignored = (name: string): Field => field(name, 'ignored');
export const one = (name: string, type: MessageType): Field => field(name, 'message', { type });
export const many = (name: string, type: MessageType): Field => field(name, 'message', { type, repeated: true });
export const nullableMany = (name: string, type: MessageType): Field => ({ ...many(name, type), nullable: true });

const mapOf = (value: Field): MessageType => wholeMessage({ 1: keptText('key'), 2: value });
const stringEntry = mapOf(keptText('value'));
const quantityEntry = mapOf(field('value', 'quantity'));
export const stringMap = (name: string): Field => field(name, 'map', { type: stringEntry });
export const quantityMap = (name: string): Field => field(name, 'map', { type: quantityEntry });
