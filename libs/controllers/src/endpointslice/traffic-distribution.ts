import type { Endpoint, EndpointHints, EndpointSlice } from '@sluice/model';
import { isReady } from './endpoint-identity.ts';
import { mapEndpoints, removeHintsFromSlices, type SliceInfo, withHints } from './slice-hints.ts';

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

const values: readonly string[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

export function isValidTrafficDistribution(value: string | null): value is string {
  return value !== null && values.includes(value);
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
