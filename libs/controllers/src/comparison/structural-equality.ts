/**
 * Semantic equality of API objects, as `equality.Semantic.DeepEqual`: null, undefined and missing fields are equal, and
 * so are null and an empty list or map. The order of lists matters.
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalLists(a, b);
  return equalFields(a, b) && equalFields(b, a);
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => structurallyEqual(item, b[i]));
}

/** Whether every field of `a` equals that of `b`. */
function equalFields(a: object, b: object): boolean {
  const other = b as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(a)) {
    if (!structurallyEqual(value, Object.hasOwn(b, key) ? other[key] : undefined)) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
