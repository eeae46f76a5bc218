import type { EndpointSlice, Endpoints, ObjectMeta, StringMap } from './objects.ts';

/** Whether an update would change nothing in the API server (K5). Fields unknown to Sluice are compared too. */
export function isNoOpUpdate<T extends Endpoints | EndpointSlice>(existing: T, updated: T): boolean {
  const { metadata: before, ...content } = existing;
  const { metadata: after, ...contentAfter } = updated;
  return equalMetadata(before, after) && structurallyEqual(content, contentAfter);
}

/** Whether metadata is equal as far as clients decide on it. */
export function equalMetadata(a: ObjectMeta, b: ObjectMeta): boolean {
  return (
    equalStringMaps(a.labels, b.labels) &&
    equalStringMaps(a.annotations, b.annotations) &&
    structurallyEqual(a.ownerReferences, b.ownerReferences) &&
    structurallyEqual(a.finalizers, b.finalizers)
  );
}

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

/** Whether two maps are equal. An undefined map equals an empty one. */
export function equalStringMaps(a: StringMap | undefined, b: StringMap | undefined): boolean {
  if (a === b) return true;
  let size = 0;
  for (const key in a) {
    if (!Object.hasOwn(a, key)) continue;
    if (b === undefined || !Object.hasOwn(b, key) || a[key] !== b[key]) return false;
    size++;
  }
  return size === sizeOf(b);
}

/** Returns the map without the given keys, or the map itself if it has none of them. */
export function withoutKeys(map: StringMap | undefined, keys: readonly string[]): StringMap {
  if (map === undefined) return {};
  if (!keys.some((key) => Object.hasOwn(map, key))) return map;
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}

function sizeOf(map: StringMap | undefined): number {
  let size = 0;
  for (const key in map) if (Object.hasOwn(map, key)) size++;
  return size;
}
