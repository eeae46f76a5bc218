import { describe, expect, it } from 'vitest';
import { repackSubsets } from './repack-subsets.ts';

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
});
