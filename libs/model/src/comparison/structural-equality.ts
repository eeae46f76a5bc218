/**
 * Semantic equality of API objects, as `equality.Semantic.DeepEqual`: null, undefined and missing fields are equal, and
 * so are null and an empty list or map. The order of lists matters.
 */
export function structurallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalLists(a, b);
  return equalFields(a, b);
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => structurallyEqual(item, b[i]));
}

/** Compares fields, and allocates nothing: watch echoes of large slices end here. */
function equalFields(a: object, b: object): boolean {
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in left) {
    if (!structurallyEqual(left[key], Object.hasOwn(b, key) ? right[key] : undefined)) return false;
  }
  for (const key in right) {
    if (!Object.hasOwn(a, key) && !isEmpty(right[key])) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}
