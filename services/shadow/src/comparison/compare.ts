import { canonical, isObject, type Json, type JsonObject, listAt, without } from './json.ts';
import {
  type ClusterState,
  labelOf,
  managedByLabel,
  type Normalised,
  type NormaliseOptions,
  normalise,
} from './normalise.ts';

export interface Difference {
  /**
   * `object`: an object that exists on one side only or differs. `members`: groups of slices whose unions of endpoints
   * differ. `hints`: only hints differ. `sizes`: only the distribution of endpoints over the slices of a group differs.
   */
  readonly kind: 'object' | 'members' | 'hints' | 'sizes';
  readonly resource: 'endpoints' | 'endpointslices';
  readonly namespace: string;
  /** Name of the Service concerned; may be empty. */
  readonly service: string;
  /** The differing objects, normalised. */
  readonly upstream: readonly JsonObject[];
  readonly sluice: readonly JsonObject[];
  /** A line for each differing field: `where: upstream's ≠ Sluice's`. */
  readonly lines: readonly string[];
}

/** Maximum number of lines that describe a difference, which also contains the whole objects. */
const mostLines = 8;

/**
 * Compares the objects of two clusters. A single slice per address type and port list of a Service is compared in full.
 * In larger groups the distribution of endpoints is random (M2–M5), so their union, generated name prefixes, labels,
 * annotations, owners and sizes are compared.
 */
export function compareClusters(
  upstream: ClusterState,
  sluice: ClusterState,
  options: NormaliseOptions = {},
): readonly Difference[] {
  const ours = normalise(upstream, options);
  const theirs = normalise(sluice, options);
  return [
    ...paired(ours.endpoints, theirs.endpoints, (entry) => entry.service).flatMap((group) => compareEndpoints(group)),
    ...paired(ours.slices, theirs.slices, sliceGroup).flatMap((group) => compareSlices(group)),
  ];
}

interface Group {
  readonly namespace: string;
  readonly service: string;
  readonly upstream: readonly JsonObject[];
  readonly sluice: readonly JsonObject[];
}

function sliceGroup({ service, object }: Normalised): string {
  return canonical([service, labelOf(object, managedByLabel), object.addressType ?? null, object.ports ?? null]);
}

function paired(
  upstream: readonly Normalised[],
  sluice: readonly Normalised[],
  keyOf: (entry: Normalised) => string,
): Group[] {
  const groups = new Map<
    string,
    { namespace: string; service: string; upstream: JsonObject[]; sluice: JsonObject[] }
  >();
  for (const [side, entries] of [['upstream', upstream] as const, ['sluice', sluice] as const]) {
    for (const entry of entries) {
      const { namespace, service, object } = entry;
      const key = canonical([namespace, keyOf(entry)]);
      const group = groups.get(key) ?? { namespace, service, upstream: [], sluice: [] };
      group[side].push(object);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function compareEndpoints(group: Group): Difference[] {
  if (canonical(group.upstream) === canonical(group.sluice)) return [];
  return [difference('object', 'endpoints', group)];
}

function compareSlices(group: Group): Difference[] {
  const { upstream, sluice } = group;
  const resource = 'endpointslices';
  if (Math.max(upstream.length, sluice.length) === 1) {
    if (canonical(upstream) === canonical(sluice)) return [];
    const same = canonical(upstream.map(withoutHints)) === canonical(sluice.map(withoutHints));
    return [difference(same ? 'hints' : 'object', resource, group)];
  }
  if (upstream.length === 0 || sluice.length === 0) return [difference('object', resource, group)];
  const [left, right] = [shapeOf(upstream), shapeOf(sluice)];
  if (left.heads !== right.heads) return [difference('object', resource, group)];
  if (left.members !== right.members) {
    const same = left.membersWithoutHints === right.membersWithoutHints;
    return [difference(same ? 'hints' : 'members', resource, group)];
  }
  return left.sizes === right.sizes ? [] : [difference('sizes', resource, group)];
}

/** The deterministic properties of a group of slices, as texts to compare. */
function shapeOf(slices: readonly JsonObject[]) {
  const endpoints = slices.flatMap((slice) => listAt(slice, 'endpoints'));
  return {
    heads: [...new Set(slices.map((slice) => canonical(headOf(slice))))].sort().join('\n'),
    sizes: slices
      .map((slice) => `${canonical(headOf(slice))} ${listAt(slice, 'endpoints').length}`)
      .sort()
      .join('\n'),
    members: endpoints.map(canonical).sort().join('\n'),
    membersWithoutHints: endpoints
      .map((endpoint) => canonical(endpointWithoutHints(endpoint)))
      .sort()
      .join('\n'),
  };
}

/** A slice without its endpoints. */
function headOf(slice: JsonObject): JsonObject {
  return without(slice, 'endpoints');
}

function withoutHints(slice: JsonObject): JsonObject {
  return { ...slice, endpoints: listAt(slice, 'endpoints').map(endpointWithoutHints) };
}

function endpointWithoutHints(endpoint: Json): Json {
  return isObject(endpoint) ? without(endpoint, 'hints') : endpoint;
}

function difference(kind: Difference['kind'], resource: Difference['resource'], group: Group): Difference {
  const lines = kind === 'sizes' ? [sizesLine(group)] : [];
  if (kind !== 'sizes') explain(toJson(group.upstream), toJson(group.sluice), '', lines);
  return { kind, resource, ...group, lines: lines.slice(0, mostLines) };
}

const toJson = (objects: readonly JsonObject[]): Json => (objects.length === 1 ? (objects[0] ?? null) : objects);

function sizesLine({ upstream, sluice }: Group): string {
  const sizes = (slices: readonly JsonObject[]) =>
    slices
      .map((slice) => listAt(slice, 'endpoints').length)
      .sort((a, b) => a - b)
      .join(' + ');
  return `sizes of slices: ${sizes(upstream)} ≠ ${sizes(sluice)}`;
}

/** Lists the differing leaves of two values. Elements of unordered lists are paired by equality first. */
function explain(left: Json | undefined, right: Json | undefined, path: string, lines: string[]): void {
  if (lines.length >= mostLines || same(left, right)) return;
  if (isObject(left) && isObject(right)) {
    for (const key of [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()) {
      explain(left[key], right[key], path === '' ? key : `${path}.${key}`, lines);
    }
    return;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const [onlyLeft, onlyRight] = unpaired(left, right);
    for (const [l, r] of pairsOf(onlyLeft, onlyRight)) explain(l, r, `${path}[${podOf(l) ?? podOf(r) ?? ''}]`, lines);
    if (onlyLeft.length + onlyRight.length === 0) lines.push(`${path}: in another order`);
    return;
  }
  if (path === '') lines.push(`the object: ${whole(left)} ≠ ${whole(right)}`);
  else lines.push(`${path}: ${short(left)} ≠ ${short(right)}`);
}

type Pair = readonly [left: Json | undefined, right: Json | undefined];

/** Elements of the same Pod form a pair; the others, in their order. */
function pairsOf(left: readonly Json[], right: readonly Json[]): readonly Pair[] {
  const rest = [...right];
  const samePods = left.map((value): Pair => {
    const pod = podOf(value);
    const at = pod === undefined ? -1 : rest.findIndex((other) => podOf(other) === pod);
    return [value, at < 0 ? undefined : rest.splice(at, 1)[0]];
  });
  const pairs = samePods.map(([value, other]): Pair => {
    return [value, other ?? (podOf(value) === undefined ? rest.shift() : undefined)];
  });
  return [...pairs, ...rest.map((value): Pair => [undefined, value])];
}

/** The Pod of an endpoint or address. */
function podOf(value: Json | undefined): string | undefined {
  const target = isObject(value) ? value.targetRef : undefined;
  const name = isObject(target) ? target.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** An object that exists on one side only, starting with its Pods. */
function whole(value: Json | undefined): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'nothing';
  const pods = [...canonical(value).matchAll(/"targetRef":\{[^{}]*"name":"([^"]+)"/g)].map(([, name]) => name);
  const shown = pods.slice(0, 3).join(', ') + (pods.length > 3 ? ` and ${pods.length - 3} more` : '');
  return pods.length === 0 ? short(value) : `with ${shown}: ${short(value)}`;
}

function same(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return canonical(left) === canonical(right);
}

function unpaired(left: readonly Json[], right: readonly Json[]): [Json[], Json[]] {
  const rest = right.map((value) => ({ value, text: canonical(value) }));
  const onlyLeft = left.filter((value) => {
    const text = canonical(value);
    const at = rest.findIndex((entry) => entry.text === text);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return [onlyLeft, rest.map(({ value }) => value)];
}

function short(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = canonical(value);
  return text.length <= 160 ? text : `${text.slice(0, 157)}…`;
}

/** Describes a difference for people. */
export function describeDifference({ resource, namespace, service, kind, lines }: Difference): string {
  const what = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlices of';
  return [`${what} ${namespace}/${service} (${kind})`, ...lines.map((line) => `  ${line}`)].join('\n');
}
