import type { Endpoint, EndpointSlice } from '@sluice/controllers';
import type { EndpointChange, EndpointFace } from './entry.ts';

export type CompareSlices = typeof endpointChanges;

/** For entries that nobody reads: the comparison is most of the cost of an entry. */
export const skipComparison: CompareSlices = () => [];

/** How a slice's new content changes traffic; null: there is no such slice. */
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
    const face = faceOf(endpoint);
    const common = { pod: podOf(endpoint), addresses: endpoint.addresses, slice: name, after: face };
    if (known === undefined) changes.push({ what: 'added', before: null, ...common });
    else if (!sameFace(faceOf(known), face)) changes.push({ what: 'changed', before: faceOf(known), ...common });
  }
  for (const [identity, endpoint] of old) {
    if (now.has(identity)) continue;
    const common = { pod: podOf(endpoint), addresses: endpoint.addresses, slice: name };
    changes.push({ what: 'removed', ...common, before: faceOf(endpoint), after: null });
  }
  return changes;
}

/** Merges the two changes of an endpoint that moved to another slice: traffic does not change, or changes once. */
export function withoutMoves(changes: readonly EndpointChange[]): EndpointChange[] {
  const added = new Map(changes.filter(({ what }) => what === 'added').map((change) => [identityOf(change), change]));
  const moved = new Set<EndpointChange>();
  const merged: EndpointChange[] = [];
  for (const change of changes) {
    if (change.what !== 'removed') continue;
    const again = added.get(identityOf(change));
    if (again === undefined || change.before === null || again.after === null) continue;
    moved.add(change).add(again);
    if (!sameFace(change.before, again.after)) merged.push({ ...again, what: 'changed', before: change.before });
  }
  return [...changes.filter((change) => !moved.has(change)), ...merged];
}

export function faceOf({ conditions, zone, hints }: Endpoint): EndpointFace {
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

export function podOf({ targetRef }: Endpoint): string {
  return targetRef?.kind === 'Pod' ? (targetRef.name ?? '') : '';
}

function byIdentity(slice: EndpointSlice | null): Map<string, Endpoint> {
  return new Map((slice?.endpoints ?? []).map((endpoint) => [identity(podOf(endpoint), endpoint.addresses), endpoint]));
}

const identityOf = ({ pod, addresses }: EndpointChange): string => identity(pod, addresses);
const identity = (pod: string, addresses: readonly string[]): string => `${pod} ${addresses.join(' ')}`;

function sameFace(a: EndpointFace, b: EndpointFace): boolean {
  return (
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    a.zone === b.zone &&
    a.hints.length === b.hints.length &&
    a.hints.every((hint, i) => hint === b.hints[i])
  );
}
