import type { StringMap } from '../objects/metadata.ts';

/** Absent and empty maps are equal. */
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

/** The map without some keys; the map itself if it has none of them. */
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
