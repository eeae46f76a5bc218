import { isRecord } from '@sluice/platform';

/**
 * Deep equality as in the API server: an absent field, null, an empty list and an empty map are equal, because they are
 * stored the same way. An empty string differs from an absent one (a port without a name is not a port named "").
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => semanticEqual(item, b[i]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key of Object.keys(a)) if (!semanticEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (!(key in a) && !isEmpty(b[key])) return false;
  return true;
}

/** `next`, sharing the parts that equal `old`, so that later comparisons of them are cheap. */
export function sharing<T extends Readonly<Record<string, unknown>>>(
  old: Readonly<Record<string, unknown>>,
  next: T,
): T {
  const shared = Object.entries(next).map(([key, value]) => {
    const before = old[key];
    return [key, before !== undefined && semanticEqual(before, value) ? before : value];
  });
  return Object.fromEntries(shared) as T;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
