import type { EndpointSlice, Endpoints } from '@sluice/controllers';

/** Whether the stored object has the wanted content, ignoring metadata set by the API server. */
export function equalContent(wanted: Endpoints | EndpointSlice, stored: Endpoints | EndpointSlice): boolean {
  const { metadata: a, ...body } = wanted;
  const { metadata: b, ...storedBody } = stored;
  return (
    includes(body, storedBody) &&
    includes(a.labels ?? {}, b.labels ?? {}) &&
    includes(a.annotations ?? {}, b.annotations ?? {}) &&
    includes(a.ownerReferences ?? [], b.ownerReferences ?? [])
  );
}

/**
 * Whether `whole` contains everything in `part`; the API server may have added defaults. Null equals a missing field.
 */
function includes(part: unknown, whole: unknown): boolean {
  if (part === null || part === undefined) return true;
  if (typeof part !== 'object') return part === whole;
  if (Array.isArray(part)) {
    const list = Array.isArray(whole) ? whole : [];
    return list.length === part.length && part.every((item, i) => includes(item, list[i]));
  }
  if (typeof whole !== 'object' || whole === null) return Object.keys(part).length === 0;
  return Object.entries(part).every(([key, value]) => includes(value, (whole as Record<string, unknown>)[key]));
}
