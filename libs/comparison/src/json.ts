/** Plain JSON, as API servers send it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Text that is equal for equal values, whatever the order of their keys. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? sortedKeys(inner) : inner));
}

/** Any object at all: what an object holds is looked at when it is read. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member if it is an object, else an empty one. */
export function objectAt(value: Json | undefined, key: string): JsonObject {
  const member = isObject(value) ? value[key] : undefined;
  return isObject(member) ? member : {};
}

/** The member if it is a list, else an empty one. */
export function listAt(value: Json | undefined, key: string): readonly Json[] {
  const member = isObject(value) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
}

/** The member if it is a text, else the empty text. */
export function textAt(value: Json | undefined, key: string): string {
  const member = isObject(value) ? value[key] : undefined;
  return typeof member === 'string' ? member : '';
}

export function without(value: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

export function sortedCanonically(values: readonly Json[]): Json[] {
  return values
    .map((value) => ({ value, text: canonical(value) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ value }) => value);
}

function sortedKeys(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
