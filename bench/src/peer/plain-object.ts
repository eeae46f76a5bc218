/** A value of the client's types in the form of JSON: the client reads times of lists as Date. */
export function plainObject(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainObject);
  if (typeof value !== 'object' || value === null) return value;
  const plain: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) if (part !== undefined) plain[key] = plainObject(part);
  return plain;
}
