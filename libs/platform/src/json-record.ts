/** An object in parsed JSON or YAML; neither array nor scalar. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns `value` if it is an object and an empty object otherwise, to read optional fields of unvalidated input. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Returns `value` if it is a string and the empty string otherwise. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
