import {
  type AddressType,
  type Endpoint,
  type EndpointHints,
  type EndpointSlice,
  type StringMap,
  topologyAwareHintsAnnotation,
  topologyModeAnnotation,
} from '@sluice/model';
import { removeHints, type ServiceHints } from '../trackers/topology-cache.ts';
import { isReady } from './endpoint-identity.ts';

/** Slices of one address type while hints are computed. Slices to be deleted are not included. */
export interface SliceInfo {
  readonly toCreate: readonly EndpointSlice[];
  readonly toUpdate: readonly EndpointSlice[];
  readonly unchanged: readonly EndpointSlice[];
}

/** Whether a Service asks for topology hints. The older annotation takes precedence (F1). */
export function hintsEnabled(annotations: StringMap): boolean {
  const value = annotations[topologyAwareHintsAnnotation] ?? annotations[topologyModeAnnotation];
  return value === 'Auto' || value === 'auto';
}

/** An Event about the hints of a Service (section J). */
export interface HintEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled';
  readonly message: string;
}

/** Removes all hints. Unchanged slices that had any become updates (F10). */
export function removeHintsFromSlices({ toCreate, toUpdate, unchanged }: SliceInfo): SliceInfo {
  const hinted = unchanged.filter((slice) => (slice.endpoints ?? []).some(hasHints));
  return {
    toCreate: toCreate.map(withoutHints),
    toUpdate: [...toUpdate, ...hinted].map(withoutHints),
    unchanged: hinted.length === 0 ? unchanged : unchanged.filter((slice) => !hinted.includes(slice)),
  };
}

/** Maps the endpoints of a slice. Returns the same slice if none changes. */
export function mapEndpoints(slice: EndpointSlice, map: (endpoint: Endpoint) => Endpoint): EndpointSlice {
  const endpoints = slice.endpoints ?? [];
  const mapped = endpoints.map(map);
  return mapped.every((endpoint, i) => endpoint === endpoints[i]) ? slice : { ...slice, endpoints: mapped };
}

export function withHints(endpoint: Endpoint, hints: EndpointHints | null): Endpoint {
  if (hints !== null) return { ...endpoint, hints };
  if (!hasHints(endpoint)) return endpoint;
  const { hints: _removed, ...rest } = endpoint;
  return rest;
}

/** Names of the hinted zones or nodes. */
export function hintTargets(list: readonly { readonly name: string }[] | null | undefined): readonly string[] {
  return list?.map(({ name }) => name) ?? [];
}

function withoutHints(slice: EndpointSlice): EndpointSlice {
  return mapEndpoints(slice, (endpoint) => withHints(endpoint, null));
}

function hasHints(endpoint: Endpoint): boolean {
  return endpoint.hints !== undefined && endpoint.hints !== null;
}

/**
 * Hints for `spec.trafficDistribution` (section G): every ready endpoint is hinted for its own zone and, with
 * `PreferSameNode`, for its own node. Any other value removes hints.
 */
export function trafficDistributionHints(trafficDistribution: string | null, lists: SliceInfo): SliceInfo {
  if (!isValidTrafficDistribution(trafficDistribution)) return removeHintsFromSlices(lists);
  const wantsNode = trafficDistribution === 'PreferSameNode';
  const hint = (slice: EndpointSlice) =>
    mapEndpoints(slice, (endpoint) =>
      isReady(endpoint) ? withHints(endpoint, ownHints(endpoint, wantsNode)) : endpoint,
    );
  const needed = lists.unchanged.filter((slice) => (slice.endpoints ?? []).some((one) => needsHint(one, wantsNode)));
  return {
    toCreate: lists.toCreate.map(hint),
    toUpdate: [...lists.toUpdate, ...needed].map(hint),
    unchanged: needed.length === 0 ? lists.unchanged : lists.unchanged.filter((slice) => !needed.includes(slice)),
  };
}

const trafficDistributions: readonly string[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

export function isValidTrafficDistribution(value: string | null): value is string {
  return value !== null && trafficDistributions.includes(value);
}

/** Returns null if the endpoint has neither zone nor node (G2). */
function ownHints(endpoint: Endpoint, wantsNode: boolean): EndpointHints | null {
  const zone = endpoint.zone ?? '';
  const node = wantsNode ? (endpoint.nodeName ?? '') : '';
  if (zone === '' && node === '') return null;
  return {
    ...(zone !== '' && { forZones: [{ name: zone }] }),
    ...(node !== '' && { forNodes: [{ name: node }] }),
  };
}

/** Whether a ready endpoint of an unchanged slice has the wrong hints (G3). */
function needsHint(endpoint: Endpoint, wantsNode: boolean): boolean {
  if (!isReady(endpoint)) return false;
  const zones = endpoint.hints?.forZones ?? [];
  const nodes = endpoint.hints?.forNodes ?? [];
  return !names(zones, endpoint.zone ?? '') || !names(nodes, wantsNode ? (endpoint.nodeName ?? '') : '');
}

/** Whether there is exactly one hint with this name, or none if the name is empty. */
function names(hints: readonly { readonly name: string }[], name: string): boolean {
  return name === '' ? hints.length === 0 : hints.length === 1 && hints[0]?.name === name;
}

/**
 * Removes the hint state of an address type of a Service that does not ask for hints (F11). Leaves the slices to the
 * caller.
 */
export function disableHints(
  type: AddressType,
  known: ServiceHints | null,
): { readonly hints: ServiceHints | null; readonly events: readonly HintEvent[] } {
  if (known === null) return { hints: null, events: [] };
  const events = known.populated ? [disabled('Topology Aware Hints has been disabled', type)] : [];
  return { hints: removeHints(known, type), events };
}

export function disabled(why: string, type: AddressType): HintEvent {
  return { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message: `${why}, addressType: ${type}` };
}
