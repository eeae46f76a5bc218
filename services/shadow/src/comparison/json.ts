/** JSON as API servers send it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** JSON text with sorted keys, equal for equal values. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? sortedKeys(inner) : inner));
}

/** Whether the value is an object. Its fields are checked when they are read. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, otherwise an empty one. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The value if it is a list, otherwise an empty one. */
export function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string, otherwise an empty one. */
function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export const objectAt = (value: Json | undefined, key: string): JsonObject => objectIn(objectIn(value)[key]);
export const listAt = (value: Json | undefined, key: string): readonly Json[] => listIn(objectIn(value)[key]);
export const textAt = (value: Json | undefined, key: string): string => textIn(objectIn(value)[key]);

export function without(value: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

export function sortedCanonically<T extends Json>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, text: canonical(value) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ value }) => value);
}

function sortedKeys(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
