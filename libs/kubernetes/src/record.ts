/** A parsed JSON or YAML value that is an object, not an array. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` if it is an object, else an empty one: for reading optional fields of unchecked input. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** `value` if it is a string, else the empty one. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
