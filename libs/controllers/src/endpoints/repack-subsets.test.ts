import { fnv1a128 } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { compareAddresses, repackSubsets } from './repack-subsets.ts';
import { dumpEndpointSubset, dumpEndpointsPort } from './subset-dump.ts';

const a = { ip: '10.0.0.2' };
const b = { ip: '10.0.0.10' };
const http = { port: 80, protocol: 'TCP' };
const dns = { port: 53, protocol: 'UDP' };

describe('repackSubsets (D25)', () => {
  it('drops subsets without addresses', () => {
    expect(repackSubsets(null)).toEqual([]);
    expect(repackSubsets([{ ports: [http] }, {}])).toEqual([]);
  });

  it('sorts addresses as text', () => {
    expect(repackSubsets([{ addresses: [a, b], ports: [http] }])).toEqual([{ addresses: [b, a], ports: [http] }]);
  });

  it('merges ports with the same addresses and keeps others apart', () => {
    const merged = repackSubsets([
      { addresses: [a], ports: [http] },
      { addresses: [a], ports: [dns] },
    ]);
    expect(merged).toHaveLength(1);
    expect(merged[0]?.ports).toHaveLength(2);
    const apart = repackSubsets([
      { addresses: [a], ports: [http] },
      { addresses: [a, b], ports: [dns] },
    ]);
    expect(apart).toHaveLength(2);
  });

  it('treats an address as not ready if it is not ready anywhere', () => {
    const subsets = [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [http] },
    ];
    expect(repackSubsets(subsets)).toEqual([{ notReadyAddresses: [a], ports: [http] }]);
    expect(repackSubsets(subsets.toReversed())).toEqual([{ notReadyAddresses: [a], ports: [http] }]);
  });

  it('distinguishes targets by UID and takes the rest from the first one (D26)', () => {
    const one = { ...a, hostname: 'one', targetRef: { uid: 'u1' } };
    const two = { ...a, hostname: 'two', targetRef: { uid: 'u2' } };
    const again = { ...a, hostname: 'again', targetRef: { uid: 'u1' } };
    expect(repackSubsets([{ addresses: [two, one, again] }])).toEqual([{ addresses: [one, two] }]);
  });

  it('does not merge equal ports with appProtocol from different subsets', () => {
    const app = { ...http, appProtocol: 'h2c' };
    expect(
      repackSubsets([
        { addresses: [a], ports: [app] },
        { addresses: [a], ports: [{ ...app }] },
      ]),
    ).toEqual([{ addresses: [a], ports: [app, app] }]);
  });

  it('merges addresses of equal ports from different subsets', () => {
    const merged = [{ addresses: [b, a], ports: [http] }];
    expect(
      repackSubsets([
        { addresses: [a], ports: [http] },
        { addresses: [b], ports: [{ ...http }] },
      ]),
    ).toEqual(merged);
    const plain = { ...http, appProtocol: null };
    expect(
      repackSubsets([
        { addresses: [a], ports: [plain] },
        { addresses: [b], ports: [plain] },
      ]),
    ).toEqual([{ addresses: [b, a], ports: [plain] }]);
  });

  it.each([
    ['number', { port: 81 }],
    ['protocol', { protocol: 'UDP' }],
    ['name', { name: 'other' }],
  ])('keeps ports apart that differ by %s', (_, other) => {
    const subsets = [
      { addresses: [a], ports: [http] },
      { addresses: [b], ports: [{ ...http, ...other }] },
    ];
    expect(repackSubsets(subsets)).toHaveLength(2);
  });

  it('merges ports if each address has the same readiness, in any order', () => {
    const subset = { addresses: [a, b], ports: [http] };
    const merged = repackSubsets([subset, { addresses: [b, a], ports: [dns] }]);
    expect(merged).toMatchObject([{ addresses: [b, a] }]);
    for (const other of [
      { addresses: [a], notReadyAddresses: [b] },
      { addresses: [b], notReadyAddresses: [a] },
      { notReadyAddresses: [a, b] },
    ]) {
      expect(repackSubsets([subset, { ...other, ports: [dns] }])).toHaveLength(2);
    }
    const mixed = { addresses: [a], notReadyAddresses: [b] };
    expect(
      repackSubsets([
        { ...mixed, ports: [http] },
        { addresses: [b], notReadyAddresses: [a], ports: [dns] },
      ]),
    ).toHaveLength(2);
    expect(
      repackSubsets([
        { ...mixed, ports: [http] },
        { ...mixed, ports: [dns] },
      ]),
    ).toHaveLength(1);
  });

  it('keeps all ports apart that differ by their address or its readiness', () => {
    const addresses = Array.from({ length: 6 }, (_, i) => ({ ip: `10.0.0.${i}` }));
    const subsets = addresses.flatMap((address, i) => [
      { addresses: [address], ports: [{ ...http, port: 100 + i }] },
      { notReadyAddresses: [address], ports: [{ ...http, port: 200 + i }] },
    ]);
    expect(repackSubsets(subsets)).toHaveLength(subsets.length);
  });

  it('offers addresses without a port for a port of zero or none, apart from those with one', () => {
    expect(repackSubsets([{ addresses: [a], ports: [{ port: 0 }] }])).toEqual([{ addresses: [a] }]);
    expect(repackSubsets([{ addresses: [a], ports: null }])).toEqual([{ addresses: [a] }]);
    const apart = repackSubsets([{ addresses: [a] }, { addresses: [b], ports: [http] }]);
    expect(apart).toHaveLength(2);
  });

  it('orders ports and subsets by their hashes, whatever their order was (L3, L4)', () => {
    const ports = Array.from({ length: 5 }, (_, i) => ({ ...http, port: 80 + i }));
    const hashes = (order: typeof ports) =>
      repackSubsets([{ addresses: [a], ports: order }])[0]?.ports?.map((port) => fnv1a128(dumpEndpointsPort(port)));
    expect(hashes(ports)).toEqual([...(hashes(ports) ?? [])].sort());
    expect(hashes(ports.toReversed())).toEqual(hashes(ports));
    const subsets = ports.map((port, i) => ({ addresses: [{ ip: `10.0.0.${i}` }], ports: [port] }));
    const subsetHashes = repackSubsets(subsets).map((subset) => fnv1a128(dumpEndpointSubset(subset)));
    expect(subsetHashes).toEqual([...subsetHashes].sort());
    expect(repackSubsets(subsets.toReversed())).toEqual(repackSubsets(subsets));
  });
});

it('addresses are ordered by IP as text, then by the UID of the target, a missing one first (D25)', () => {
  const of = (uid: string) => ({ ...a, targetRef: { uid } });
  const ordered = [b, a, of('u1'), of('u2')];
  for (const [i, one] of ordered.entries()) {
    const signs = ordered.map((other) => Math.sign(compareAddresses(one, other)));
    expect(signs).toEqual(ordered.map((_, j) => Math.sign(i - j)));
  }
  expect(compareAddresses(a, of(''))).toBe(0);
});
