import { compactSlices, countAddresses, endpointsCapacity, truncateSubsets } from '@sluice/controllers';
import { digestFacts, type Fact } from '@sluice/messages';
import type { Endpoint, EndpointAddress, EndpointSlice, EndpointSubset, Service } from '@sluice/model';
import { type Random, randomInteger } from '@sluice/platform';
import { chance, holds, type ModelCheck, pick, same, shuffled } from './model-check.ts';

/** Large Services: what is written keeps every endpoint that fits, in as few objects as the limits allow. */
export const packingCheck: ModelCheck = {
  invariant: 'endpoints are packed within the limits',
  run(random) {
    for (let n = 0; n < 6; n++) {
      truncation(random);
      compaction(random);
      digest(random);
    }
  },
};

function truncation(random: Random): void {
  const size = () => (chance(random, 0.2) ? 0 : randomInteger(random, 1, 700));
  const addresses = (kind: string, count: number): EndpointAddress[] =>
    Array.from({ length: count }, (_, i) => ({ ip: `${kind}-${i}` }));
  const subsets: EndpointSubset[] = Array.from({ length: randomInteger(random, 1, 5) }, (_, i) => {
    const [ready, notReady] = [size(), size()];
    return {
      ...(ready > 0 && { addresses: addresses(`${i}-ready`, ready) }),
      ...(notReady > 0 && { notReadyAddresses: addresses(`${i}-not`, notReady) }),
      ports: [{ port: 80 + i, protocol: 'TCP' }],
    };
  });
  const { truncated, subsets: kept } = truncateSubsets(subsets);
  const count = countAddresses(subsets);
  same(`whether ${count} addresses are truncated`, truncated, count > endpointsCapacity);
  same(`addresses kept of ${count}`, countAddresses(kept), Math.min(count, endpointsCapacity));
  const ready = (of: readonly EndpointSubset[]) => of.reduce((sum, one) => sum + (one.addresses?.length ?? 0), 0);
  same('ready addresses kept', ready(kept), Math.min(ready(subsets), endpointsCapacity));
  for (const [i, subset] of kept.entries()) {
    const before = subsets[i];
    for (const field of ['addresses', 'notReadyAddresses'] as const) {
      const [all, left] = [before?.[field] ?? [], subset[field] ?? []];
      same('which addresses are kept', left, all.slice(0, left.length));
    }
  }
}

const ports = [[{ name: 'http', port: 80, protocol: 'TCP' }], [{ name: 'http', port: 81, protocol: 'TCP' }]] as const;

function compaction(random: Random): void {
  const service = { name: 'web', namespace: 'shop', uid: 'u1' } as unknown as Service;
  const max = randomInteger(random, 2, 10);
  const slices = Array.from({ length: randomInteger(random, 0, 12) }, (_, i) => sliceOf(random, i, max));
  const maxWrites = chance(random, 0.5) ? Number.POSITIVE_INFINITY : randomInteger(random, 0, 8);
  const { groups, writes } = compactSlices({ service, slices, maxEndpointsPerSlice: max, maxWrites });
  const mutations = groups.flatMap((group) => group.mutations);
  same('number of writes', writes, mutations.length);
  holds(`${writes} writes of at most ${maxWrites}`, writes <= maxWrites);
  const usable = (slice: EndpointSlice) =>
    slice.metadata.deletionTimestamp === undefined && slice.metadata.ownerReferences?.[0]?.uid === 'u1';
  const current = new Map(slices.map((slice) => [slice.metadata.name, slice]));
  const endpointsOf = () =>
    new Set(
      [...current.values()].filter(usable).flatMap((slice) => (slice.endpoints ?? []).map((one) => idOf(slice, one))),
    );
  const wanted = endpointsOf();
  for (const mutation of mutations) {
    const name = mutation.verb === 'delete' ? mutation.name : (mutation.object.metadata.name ?? '');
    const before = current.get(name);
    holds(`${mutation.verb} of slice ${name}, which is not to be changed`, before !== undefined && usable(before));
    if (mutation.verb === 'delete') current.delete(name);
    else current.set(name, mutation.object as EndpointSlice);
    same('endpoints after each write', [...endpointsOf()].sort(), [...wanted].sort());
  }
  for (const slice of current.values()) {
    const size = slice.endpoints?.length ?? 0;
    const before = slices.find(({ metadata }) => metadata.name === slice.metadata.name)?.endpoints?.length ?? 0;
    holds(`a slice with ${size} endpoints of at most ${max}`, size <= Math.max(max, before));
  }
  if (maxWrites < Number.POSITIVE_INFINITY) return;
  const groupsOf = Map.groupBy(
    [...current.values()].filter(usable),
    ({ addressType, ports: of }) => `${addressType} ${JSON.stringify(of)}`,
  );
  for (const group of groupsOf.values()) {
    const size = group.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0);
    const isOversized = group.some(({ endpoints }) => (endpoints?.length ?? 0) > max);
    if (!isOversized) same(`slices of ${size} endpoints`, group.length, Math.max(1, Math.ceil(size / max)));
  }
}

const idOf = ({ addressType }: EndpointSlice, { addresses }: Endpoint) => `${addressType} ${addresses}`;

function sliceOf(random: Random, i: number, max: number): EndpointSlice {
  const size = randomInteger(random, 0, chance(random, 0.1) ? max + 3 : max);
  const metadata = {
    ...{ name: `web-${i}`, namespace: 'shop', uid: `s${i}`, resourceVersion: `${i + 1}` },
    ...(chance(random, 0.15) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: chance(random, 0.1) ? 'u0' : 'u1' }],
  };
  const endpoints = Array.from({ length: size }, (_, n) => ({
    addresses: [`10.${i}.0.${n}`],
    conditions: { ready: true },
  }));
  return {
    ...{ metadata, endpoints, ports: pick(random, ports) },
    addressType: pick(random, ['IPv4', 'IPv4', 'IPv6']),
  } as unknown as EndpointSlice;
}

/** A digest says whether facts are the same, whatever their order. */
function digest(random: Random): void {
  const meta = (name: string, version: number) => ({ name, uid: name, resourceVersion: `${version}` });
  const facts = [
    { kind: 'service', service: { name: 'web', labels: { b: '1', a: '2' } } },
    ...Array.from({ length: 4 }, (_, i) => ({
      kind: 'pod',
      name: `p${i}`,
      pod: { name: `p${i}`, ready: true },
      node: null,
    })),
    ...Array.from({ length: 4 }, (_, i) => ({ kind: 'slice', name: `s${i}`, slice: { metadata: meta(`s${i}`, i) } })),
    { kind: 'endpoints', endpoints: { metadata: meta('web', 7) } },
    { kind: 'topology', topology: { zones: { a: 1 } } },
  ] as unknown as Fact[];
  same('the digest of the same facts', digestFacts(shuffled(random, facts)), digestFacts(facts));
  const left = randomInteger(random, 0, facts.length - 1);
  const others = digestFacts(facts.filter((_, i) => i !== left));
  holds('facts without one have the same digest', JSON.stringify(others) !== JSON.stringify(digestFacts(facts)));
}
