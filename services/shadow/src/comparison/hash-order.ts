import { isObject, type Json, sortedCanonically } from './json.ts';

/** Lists whose order derives from the hashes of ports. */
const hashOrdered = new Set(['ports', 'subsets']);

/**
 * Sorts the ports of slices, and the ports and subsets of Endpoints. Upstream sorts them by a hash, which is MD5 before
 * Kubernetes 1.35 and FNV since.
 */
export function withoutHashOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map((element: Json) => withoutHashOrder(element));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const inner = withoutHashOrder(member);
      return [key, Array.isArray(inner) && hashOrdered.has(key) ? sortedCanonically(inner as readonly Json[]) : inner];
    }),
  );
}
