import { isRecord } from '@sluice/platform';

/** JSON merge patch (RFC 7386). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** Lists that a strategic merge patch merges by key instead of replacing. */
const mergeKeys: Readonly<Record<string, string>> = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  ownerReferences: 'uid',
  podIPs: 'ip',
};

/**
 * Strategic merge patch without a schema: maps merge, the lists above merge by key, other lists are replaced. Returns
 * undefined for directives (`$patch`, `$setElementOrder`, …), which are not supported.
 */
export function strategicMergePatch(target: unknown, patch: unknown, field = ''): unknown {
  const key = mergeKeys[field];
  if (Array.isArray(patch) && Array.isArray(target) && key !== undefined) return mergeLists(target, patch, key);
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) return undefined;
    if (value === null) delete result[name];
    else {
      const merged = strategicMergePatch(result[name], value, name);
      if (merged === undefined) return undefined;
      result[name] = merged;
    }
  }
  return result;
}

function mergeLists(target: readonly unknown[], patch: readonly unknown[], key: string): unknown {
  const merged = [...target];
  for (const item of patch) {
    if (!isRecord(item) || '$patch' in item) return undefined;
    const at = merged.findIndex((other) => isRecord(other) && other[key] === item[key]);
    const value = strategicMergePatch(at < 0 ? undefined : merged[at], item);
    if (value === undefined) return undefined;
    if (at < 0) merged.push(value);
    else merged[at] = value;
  }
  return merged;
}
