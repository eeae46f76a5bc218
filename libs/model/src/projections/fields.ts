import type { StringMap } from '../objects.ts';

/**
 * Field access for parsed JSON. As in Kubernetes, a missing or null field reads as the zero value, and a field of the
 * wrong type is an error. Paths are assembled only for errors.
 */
export type Fields = Readonly<Record<string, unknown>>;

const none: Fields = Object.freeze({});

/** Thrown during a projection. {@link projected} turns it into a MalformedObjectError that names the object. */
class WrongType extends Error {
  readonly path: string;
  readonly expected: string;
  constructor(path: string, expected: string) {
    super();
    this.path = path;
    this.expected = expected;
  }
}

/**
 * Runs the projection of one API object.
 *
 * @throws MalformedObjectError if a field has the wrong type
 */
export function projected<T>(kind: string, raw: unknown, read: (object: Fields) => T): T {
  try {
    return read(asFields(raw, ''));
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    const { namespace, name } = identityOf(raw);
    throw new MalformedObjectError(kind, namespace, name, error.path || 'the object', error.expected);
  }
}

export function wrongType(path: string, expected: string): Error {
  return new WrongType(path, expected);
}

export function fieldsAt(object: Fields, key: string, path: string): Fields {
  return asFields(object[key], path);
}

export function stringAt(object: Fields, key: string, path: string): string {
  const value = object[key];
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  throw new WrongType(path, 'a string');
}

/** Returns null if the field is missing. */
export function optionalStringAt(object: Fields, key: string, path: string): string | null {
  const value = object[key];
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return null;
  throw new WrongType(path, 'a string');
}

export function booleanAt(object: Fields, key: string, path: string): boolean {
  const value = object[key];
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null) return false;
  throw new WrongType(path, 'a boolean');
}

/** A 32-bit integer, zero if missing. */
export function integerAt(object: Fields, key: string, path: string): number {
  const value = object[key];
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && (value | 0) === value) return value;
  throw new WrongType(path, 'a 32-bit integer');
}

/** Reads each item of a list, empty if missing. A null item reads as an empty object or string. */
export function listAt<T>(object: Fields, key: string, path: string, read: (item: unknown) => T): T[] {
  const value = object[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new WrongType(path, 'a list');
  const items: T[] = [];
  for (let i = 0; i < value.length; i++) {
    try {
      items.push(read(value[i]));
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      throw new WrongType(error.path === '' ? `${path}[${i}]` : `${path}[${i}].${error.path}`, error.expected);
    }
  }
  // A copy has no room to grow, which V8 reserves for 16 more items on the first push.
  return items.length === 0 ? items : items.slice();
}

/**
 * Like {@link listAt}, but returns the list itself, which may be missing or null, if `read` returns every item unchanged.
 */
export function keptListAt<T>(object: Fields, key: string, path: string, read: (item: unknown) => T): unknown {
  const items = listAt(object, key, path, read);
  const value = object[key];
  return Array.isArray(value) && items.some((item, i) => item !== value[i]) ? items : value;
}

/** The object with this value, and the object itself if it has it already. */
export function withField(object: Fields, key: string, value: unknown): Fields {
  return object[key] === value ? object : { ...object, [key]: value };
}

export function asFields(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return none;
  if (typeof value !== 'object' || Array.isArray(value)) throw new WrongType(path, 'an object');
  return value as Fields;
}

export function asString(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  throw new WrongType('', 'a string');
}

/** A map of strings, null if missing. Returns the map itself if all values are strings. */
export function optionalStringMapAt(object: Fields, key: string, path: string): StringMap | null {
  const value = object[key];
  if (value === undefined || value === null) return null;
  const map = asFields(value, path);
  let hasNull = false;
  for (const entry in map) {
    const text = map[entry];
    if (typeof text === 'string') continue;
    if (text !== null) throw new WrongType(`${path}[${JSON.stringify(entry)}]`, 'a string');
    hasNull = true;
  }
  if (!hasNull) return map as StringMap;
  return Object.fromEntries(Object.entries(map).map(([name, text]) => [name, asString(text)]));
}

const emptyMap: StringMap = Object.freeze({});

export function stringMapAt(object: Fields, key: string, path: string): StringMap {
  return optionalStringMapAt(object, key, path) ?? emptyMap;
}

/** The name, which every stored object has. */
export function nameOf(metadata: Fields): string {
  const name = stringAt(metadata, 'name', 'metadata.name');
  if (name === '') throw new WrongType('metadata.name', 'a non-empty string');
  return name;
}

function identityOf(raw: unknown): { namespace: string; name: string } {
  const metadata = (raw as { metadata?: Fields } | null | undefined)?.metadata;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { namespace: text(metadata?.namespace), name: text(metadata?.name) };
}

/**
 * Reads an API time as RFC 3339 in UTC with whole seconds, as the API server stores it. Returns null if missing.
 * Normalises other forms that Kubernetes accepts (offsets, and fractions, which are truncated).
 */
export function optionalTimeAt(object: Fields, key: string, path: string): string | null {
  const text = optionalStringAt(object, key, path);
  if (text === null || isCanonical(text)) return text;
  if (!rfc3339.test(text)) throw wrongType(path, 'an RFC 3339 time');
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw wrongType(path, 'an RFC 3339 time');
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Checks only the length and the separators of `2024-01-01T00:05:00Z`: the API server stores valid times only. */
function isCanonical(text: string): boolean {
  return (
    text.length === 20 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 90
  );
}

/** An API object has a field whose type Kubernetes would not accept. The object is ignored. */
export class MalformedObjectError extends Error {
  readonly code = 'MALFORMED_OBJECT';
  readonly kind: string;
  /** Empty if unreadable. */
  readonly namespace: string;
  /** Empty if unreadable. */
  readonly objectName: string;
  /** Path of the field, for example `spec.ports[0].port`. */
  readonly path: string;
  readonly expected: string;

  constructor(kind: string, namespace: string, objectName: string, path: string, expected: string) {
    super(`${kind} ${namespace === '' ? '' : `${namespace}/`}${objectName || '(unnamed)'}: ${path} is not ${expected}`);
    this.name = 'MalformedObjectError';
    this.kind = kind;
    this.namespace = namespace;
    this.objectName = objectName;
    this.path = path;
    this.expected = expected;
  }
}
