import { addHints, addressTypesOf, hintsEnabled } from '@sluice/controllers';
import {
  type AddressType,
  type EndpointSlice,
  endpointSliceController,
  managedByLabel,
  type NodeTopology,
  type Service,
} from '@sluice/model';
import { endpointState } from '../history/endpoint-changes.ts';
import type { HistoryState } from '../history/history-state.ts';

/**
 * Why the endpoints of a Service have hints or not, and what the loss of a zone would leave; empty if the Service does not
 * ask for hints. Topology hints depend on Nodes: if these are not watched, nothing is said about them.
 */
export function hintNotes(state: HistoryState, service: Service): string[] {
  const isAuto = state.hasNodes && hintsEnabled(service.annotations);
  if (!isAuto && service.trafficDistribution === null) return [];
  const types = addressTypesOf(service);
  const notes = isAuto ? [ratiosNote(state.topology)] : [];
  for (const type of types) {
    const slices = ownSlices(state, type);
    const of = types.length > 1 ? `${type}: ` : '';
    if (isAuto) notes.push(`${of}${hintsNote(slices, type, state.topology)}`);
    const losses = zonesOf(slices).map((zone) =>
      lossNote(slices, zone, isAuto ? { type, topology: state.topology } : null),
    );
    for (const loss of losses) notes.push(`${of}${loss}.`);
  }
  return notes;
}

function ratiosNote(topology: NodeTopology | null): string {
  const ratios = Object.entries(topology?.zoneRatios ?? {}).map(
    ([zone, ratio]) => `${zone} ${Math.round(ratio * 100)} %`,
  );
  if (ratios.length > 0) return `Allocatable CPU by zone: ${ratios.join(', ')}.`;
  return 'The Nodes do not report enough for topology hints.';
}

/** What was written, and upstream's reason if these endpoints cannot have hints (F3–F9). */
function hintsNote(slices: readonly EndpointSlice[], type: AddressType, topology: NodeTopology | null): string {
  const written = count(readyIn(slices).flatMap(({ hints }) => hints));
  const reason = reasonWithoutHints(slices, type, topology);
  if (written.size > 0) {
    const stays = reason === undefined ? '' : `, which are about to be removed: ${reason}`;
    return `Ready endpoints have topology hints for ${countsText(written)}${stays}.`;
  }
  return reason === undefined ? 'Topology hints are about to be added.' : `No topology hints: ${reason}.`;
}

/** The message of upstream's Event, or undefined if the endpoints of these slices can have hints. */
function reasonWithoutHints(
  slices: readonly EndpointSlice[],
  type: AddressType,
  topology: NodeTopology | null,
): string | undefined {
  const { hints, events } = addHints({ toCreate: [], toUpdate: slices, unchanged: [] }, type, topology, null);
  return hints === null ? events[0]?.message.replace(`, addressType: ${type}`, '') : undefined;
}

/** `auto`: what topology hints depend on; null: hints follow from the place of each endpoint alone. */
function lossNote(
  slices: readonly EndpointSlice[],
  zone: string,
  auto: { readonly type: AddressType; readonly topology: NodeTopology | null } | null,
): string {
  const left = slices.map((slice) => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).filter((endpoint) => endpointState(endpoint).zone !== zone),
  }));
  const remaining = count(readyIn(left).map((endpoint) => endpoint.zone));
  if (remaining.size === 0) return `Without zone ${zone}, no ready endpoint would remain`;
  const reason = auto && reasonWithoutHints(left, auto.type, withoutZone(auto.topology, zone));
  const hints = auto === null ? '' : reason === undefined ? ', with hints' : `, without hints: ${reason}`;
  return `Without zone ${zone}, ready endpoints would remain in ${countsText(remaining)}${hints}`;
}

/** The topology of the other zones; their CPU is known only as shares. */
function withoutZone(topology: NodeTopology | null, zone: string): NodeTopology | null {
  if (topology === null) return null;
  const { [zone]: _lost, ...nodesByZone } = topology.nodesByZone;
  const others = Object.entries(topology.zoneRatios ?? {}).filter(([name]) => name !== zone);
  const total = others.reduce((sum, [, ratio]) => sum + ratio, 0);
  // Fewer than two zones are too few for ratios (F2).
  const zoneRatios =
    others.length < 2 ? null : Object.fromEntries(others.map(([name, ratio]) => [name, ratio / total]));
  return { zoneRatios, nodesByZone };
}

const ownSlices = (state: HistoryState, type: AddressType): readonly EndpointSlice[] =>
  [...state.slices.values()]
    .map(({ slice }) => slice)
    .filter(
      ({ addressType, metadata }) =>
        addressType === type && metadata.labels?.[managedByLabel] === endpointSliceController,
    );

const readyIn = (slices: readonly EndpointSlice[]) =>
  slices.flatMap(({ endpoints }) => (endpoints ?? []).map(endpointState)).filter(({ ready }) => ready);

const zonesOf = (slices: readonly EndpointSlice[]): readonly string[] =>
  [...count(readyIn(slices).map(({ zone }) => zone)).keys()].filter((zone) => zone !== '').sort();

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const countsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, endpoints]) => `${zone || 'no zone'} (${endpoints})`)
    .join(', ');
