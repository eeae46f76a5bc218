import type { Difference } from './compare.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt } from './json.ts';
import type { ClusterState } from './normalise.ts';

export interface ExplainContext {
  /** The upstream side. */
  readonly state: ClusterState;
  readonly maxEndpointsPerSlice: number;
  /** Services, as `namespace/name`, that had topology mode Auto at an earlier checkpoint. */
  readonly onceAuto?: ReadonlySet<string>;
  /**
   * Services, as `namespace/name`, for which the upstream controller reports a mirroring failure of the kind of H19.
   */
  readonly stuckMirrors?: ReadonlySet<string>;
}

/** An accepted difference: caused by randomness upstream or by an intended deviation. */
interface Explanation {
  /** Numbers of the rules of the behaviour specification. */
  readonly rules: string;
  readonly why: string;
  readonly explains: (difference: Difference, context: ExplainContext) => boolean;
}

export const explanations: readonly Explanation[] = [
  {
    rules: 'M3, E20–E22',
    why: 'the upstream controller distributes endpoints over slices in random order, so slice sizes differ after removals',
    explains: ({ kind, upstream, sluice }, { maxEndpointsPerSlice }) =>
      kind === 'sizes' && Math.max(upstream.length, sluice.length) > 1 && fits(sluice, maxEndpointsPerSlice),
  },
  {
    rules: 'M6, F5–F8',
    why: 'hints of topology mode Auto depend on previous hints and, among equal zones, on random order',
    explains: (difference, context) =>
      difference.kind === 'hints' && isAuto(difference, context) && allHinted(difference),
  },
  {
    rules: 'E15, E24',
    why: 'an existing placeholder slice stays while Pods without resolvable ports wait for their Node',
    explains: (difference, context) => difference.kind === 'object' && isSparePlaceholder(difference, context),
  },
  {
    rules: 'H19',
    why: 'upstream mirroring of both IP families can fail on the name of a reused slice; the slices of Sluice mirror the Endpoints',
    explains: isStuckMirror,
  },
];

export function explain(difference: Difference, context: ExplainContext): Explanation | undefined {
  return explanations.find(({ explains }) => explains(difference, context));
}

const endpointsOf = (slices: readonly JsonObject[]) => slices.flatMap((slice) => listAt(slice, 'endpoints'));

/** Whether no slice is empty next to others or over the maximum, and no endpoint is duplicated. */
function fits(slices: readonly JsonObject[], max: number): boolean {
  const sizes = slices.map((slice) => listAt(slice, 'endpoints').length);
  const all = endpointsOf(slices).map((endpoint) => JSON.stringify(endpoint));
  return sizes.every((size) => size > 0 && size <= max) && new Set(all).size === all.length;
}

/** An empty slice without ports on one side only, of an address type that has other slices of the controller. */
function isSparePlaceholder({ namespace, service, upstream, sluice }: Difference, { state }: ExplainContext): boolean {
  const [placeholder, ...more] = [...upstream, ...sluice];
  if (placeholder === undefined || more.length > 0) return false;
  if (listAt(placeholder, 'endpoints').length > 0 || listAt(placeholder, 'ports').length > 0) return false;
  const labels = (slice: JsonObject) => objectAt(slice.metadata, 'labels');
  const manager = textAt(labels(placeholder), 'endpointslice.kubernetes.io/managed-by');
  return state.endpointslices.some(
    (slice) =>
      textAt(slice.metadata, 'namespace') === namespace &&
      textAt(labels(slice), 'kubernetes.io/service-name') === service &&
      textAt(labels(slice), 'endpointslice.kubernetes.io/managed-by') === manager &&
      textAt(slice, 'addressType') === textAt(placeholder, 'addressType') &&
      listAt(slice, 'ports').length > 0,
  );
}

/**
 * Mirrored slices of a Service on which the upstream controller is stuck. Each endpoint that Sluice mirrors must be in
 * the Endpoints with the same readiness.
 */
function isStuckMirror(difference: Difference, { state, stuckMirrors }: ExplainContext): boolean {
  const { namespace, service, upstream, sluice } = difference;
  const name = `${namespace}/${service}`;
  if (!stuckMirrors?.has(name) || ![...upstream, ...sluice].every(isMirrored)) return false;
  const endpoints = state.endpoints.find((object) => fullName(object) === name);
  if (endpoints === undefined) return false;
  const wanted = new Set<string>();
  for (const subset of listAt(endpoints, 'subsets').filter(isObject)) {
    for (const address of listAt(subset, 'addresses').filter(isObject)) wanted.add(`${textAt(address, 'ip')} true`);
    for (const address of listAt(subset, 'notReadyAddresses').filter(isObject))
      wanted.add(`${textAt(address, 'ip')} false`);
  }
  return endpointsOf(sluice)
    .filter(isObject)
    .every((endpoint) =>
      listAt(endpoint, 'addresses').every((ip) => wanted.has(`${ip} ${objectAt(endpoint, 'conditions').ready}`)),
    );
}

function isMirrored({ metadata }: JsonObject): boolean {
  const labels = objectAt(metadata, 'labels');
  return textAt(labels, 'endpointslice.kubernetes.io/managed-by') === 'endpointslicemirroring-controller.k8s.io';
}

/** The slices of a Service that was deleted or that no controller manages stay unchanged. */
function isAuto({ namespace, service }: Difference, { state, onceAuto }: ExplainContext): boolean {
  const name = `${namespace}/${service}`;
  if (autoServices(state).has(name)) return true;
  const kept = state.services.some((found) => fullName(found) === name && isObject(objectAt(found, 'spec').selector));
  return !kept && (onceAuto?.has(name) ?? false);
}

/** The Services with topology mode Auto, as `namespace/name`. */
export function autoServices({ services }: ClusterState): ReadonlySet<string> {
  const mode = (service: JsonObject) =>
    textAt(objectAt(service.metadata, 'annotations'), 'service.kubernetes.io/topology-mode');
  return new Set(services.filter((service) => mode(service) === 'Auto').map(fullName));
}

const fullName = ({ metadata }: JsonObject) => `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;

/** Whether each ready endpoint has exactly one zone on both sides. */
function allHinted({ upstream, sluice }: Difference): boolean {
  const ready = [...endpointsOf(upstream), ...endpointsOf(sluice)].filter(
    (endpoint) => isObject(endpoint) && objectAt(endpoint, 'conditions').ready === true,
  );
  return ready.every((endpoint) => listAt(objectAt(endpoint, 'hints'), 'forZones').length === 1);
}
