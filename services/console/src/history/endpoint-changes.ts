import { podOf } from '@sluice/controllers';
import type { Endpoint, EndpointSlice } from '@sluice/model';
import type { EndpointChange, EndpointState } from '../view/entry-schemas.ts';

export type CompareSlices = typeof endpointChanges;

/** Skips the comparison, which is most of the cost of an entry, for entries that are not read. */
export const skipComparison: CompareSlices = () => [];

/** How the new content of a slice changes traffic. Null: the slice does not exist. */
export function endpointChanges(
  name: string,
  before: EndpointSlice | null,
  after: EndpointSlice | null,
): EndpointChange[] {
  const old = byIdentity(before);
  const now = byIdentity(after);
  const changes: EndpointChange[] = [];
  for (const [identity, endpoint] of now) {
    const known = old.get(identity);
    const before = known === undefined ? null : endpointState(known);
    const state = endpointState(endpoint);
    if (before !== null && isSameState(before, state)) continue;
    const type = before === null ? 'added' : 'changed';
    changes.push({ type, pod: podOf(endpoint), addresses: endpoint.addresses, slice: name, before, after: state });
  }
  for (const [identity, endpoint] of old) {
    if (now.has(identity)) continue;
    const before = endpointState(endpoint);
    changes.push({
      type: 'removed',
      pod: podOf(endpoint),
      addresses: endpoint.addresses,
      slice: name,
      before,
      after: null,
    });
  }
  return changes;
}

/** Merges the two changes of an endpoint that moved to another slice; drops them if its state is the same. */
export function withoutMoves(changes: readonly EndpointChange[]): EndpointChange[] {
  const added = new Map(changes.filter(({ type }) => type === 'added').map((change) => [identityOf(change), change]));
  const moved = new Set<EndpointChange>();
  const merged: EndpointChange[] = [];
  for (const change of changes) {
    if (change.type !== 'removed') continue;
    const addition = added.get(identityOf(change));
    if (addition === undefined || change.before === null || addition.after === null) continue;
    moved.add(change).add(addition);
    if (!isSameState(change.before, addition.after))
      merged.push({ ...addition, type: 'changed', before: change.before });
  }
  return [...changes.filter((change) => !moved.has(change)), ...merged];
}

export function endpointState({ conditions, zone, hints }: Endpoint): EndpointState {
  return {
    ready: conditions?.ready ?? true,
    serving: conditions?.serving ?? conditions?.ready ?? true,
    terminating: conditions?.terminating ?? false,
    zone: zone ?? '',
    hints: [
      ...(hints?.forZones ?? []).map(({ name }) => name),
      ...(hints?.forNodes ?? []).map(({ name }) => `node:${name}`),
    ],
  };
}

function byIdentity(slice: EndpointSlice | null): Map<string, Endpoint> {
  return new Map((slice?.endpoints ?? []).map((endpoint) => [identity(podOf(endpoint), endpoint.addresses), endpoint]));
}

const identityOf = ({ pod, addresses }: EndpointChange): string => identity(pod, addresses);
const identity = (pod: string, addresses: readonly string[]): string => `${pod} ${addresses.join(' ')}`;

function isSameState(a: EndpointState, b: EndpointState): boolean {
  return (
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    a.zone === b.zone &&
    a.hints.length === b.hints.length &&
    a.hints.every((hint, i) => hint === b.hints[i])
  );
}
