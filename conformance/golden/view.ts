import { canonical, isObject, type Json, type JsonObject, listIn, objectIn, sortedCanonically } from '@sluice/shadow';
import { normaliseObjects } from './normalise.ts';
import type { ActualRound, Vector } from './vector.ts';

const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** The part of a round's objects that a vector of this class compares. */
export function viewOf(
  objects: ActualRound['objects'],
  given: ReadonlySet<string>,
  { class: kind, loose = [] }: Pick<Vector, 'class' | 'loose'>,
): JsonObject {
  const { endpoints, endpointslices } = normaliseObjects(objects, given);
  if (kind === 'shape') return { endpoints, ...shapeOf(endpointslices.map(withoutName), loose.includes('hints')) };
  if (!loose.includes('names')) return { endpoints, endpointslices };
  return { endpoints, endpointslices: sortedCanonically(endpointslices.map(withoutName)) };
}

/** Drops the trigger time annotation. */
export function withoutTriggerTimes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTriggerTimes);
  if (!isObject(value)) return value;
  const fields: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (key !== 'annotations' || !isObject(inner)) {
      fields.push([key, withoutTriggerTimes(inner)]);
      continue;
    }
    const { [triggerTimeAnnotation]: _dropped, ...others } = inner;
    if (Object.keys(others).length > 0) fields.push([key, others]);
  }
  return Object.fromEntries(fields);
}

function withoutName(slice: JsonObject): JsonObject {
  const { name: _name, ...metadata } = objectIn(slice.metadata);
  return { ...slice, metadata };
}

interface Group {
  readonly addressType: Json;
  readonly ports: Json;
  readonly endpoints: Json[];
  /** Number of endpoints by hints. */
  readonly hints: Map<string, number>;
}

/** Each slice with its size only, and the endpoints of all slices with the same address type and ports together. */
function shapeOf(slices: readonly JsonObject[], countHints: boolean): JsonObject {
  const sizes: JsonObject[] = [];
  const groups = new Map<string, Group>();
  for (const { endpoints = [], ...slice } of slices) {
    const listed = listIn(endpoints);
    sizes.push({ ...slice, size: listed.length });
    const addressType = slice.addressType ?? null;
    const ports = slice.ports ?? [];
    for (const endpoint of listed) addTo(groups, addressType, ports, endpoint, countHints);
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  const members = sorted.map(({ addressType, ports, endpoints }) => ({
    addressType,
    ports,
    endpoints: sortedCanonically(endpoints),
  }));
  const shape = { slices: sortedCanonically(sizes), members };
  if (!countHints) return shape;
  const hintCounts = sorted.flatMap(({ addressType, ports, hints }) =>
    [...hints].map(([text, count]) => ({ addressType, ports, hints: JSON.parse(text) as Json, count })),
  );
  return { ...shape, hintCounts: sortedCanonically(hintCounts) };
}

function addTo(groups: Map<string, Group>, addressType: Json, ports: Json, endpoint: Json, countHints: boolean): void {
  const key = canonical([addressType, ports]);
  const group = groups.get(key) ?? { addressType, ports, endpoints: [], hints: new Map<string, number>() };
  groups.set(key, group);
  if (!countHints) return void group.endpoints.push(endpoint);
  const { hints = null, ...rest } = objectIn(endpoint);
  group.endpoints.push(rest);
  const text = canonical(hints);
  group.hints.set(text, (group.hints.get(text) ?? 0) + 1);
}
