import type { StringMap } from '../objects/metadata.ts';

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
