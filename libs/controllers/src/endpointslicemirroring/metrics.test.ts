import type { EndpointSlice, EndpointSubset, Endpoints } from '@sluice/model';
import { aService, someEndpoints } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import type { MirroringCounts } from '../controller-metrics.ts';
import { applyPlan, nothingWritten } from '../testing/apply-plan.ts';
import { reconcileMirroring } from './controller.ts';

const service = aService({ selector: null });
const max = 3;

const subset = (ips: readonly string[], port = 80, notReady: readonly string[] = []): EndpointSubset => ({
  addresses: ips.map((ip) => ({ ip })),
  notReadyAddresses: notReady.map((ip) => ({ ip })),
  ports: [{ name: '', port, protocol: 'TCP' }],
});

function decide(subsets: readonly EndpointSubset[], slices: Iterable<EndpointSlice> = []) {
  const endpoints: Endpoints = someEndpoints({ subsets });
  return reconcileMirroring({ service, endpoints, slices, maxEndpointsPerSubset: max });
}

function count(...[subsets, slices]: Parameters<typeof decide>): MirroringCounts {
  const { counts } = decide(subsets, slices);
  if (counts === null) throw new Error('no counts');
  return counts;
}

const mirrorOf = (...subsets: EndpointSubset[]): EndpointSlice[] => [
  ...applyPlan(nothingWritten, decide(subsets).plan).slices.values(),
];

describe('the counts of mirrored Endpoints (I1)', () => {
  it('contain one slice per family and port group, with no minimum', () => {
    const both = subset(['10.0.0.1', '10.0.0.2', 'fd00::1']);
    expect(count([both]).service).toEqual({ endpoints: 3, slices: 2, desiredSlices: 2, hinting: null });
    expect(count([]).service).toEqual({ endpoints: 0, slices: 0, desiredSlices: 0, hinting: null });
  });

  it('are null if nothing is mirrored', () => {
    const slices = mirrorOf(subset(['10.0.0.1']));
    const inputs = { endpoints: null, slices, maxEndpointsPerSubset: max };
    expect(reconcileMirroring({ ...inputs, service }).counts).toBeNull();
  });
});

describe('a sync of mirrored Endpoints (section I)', () => {
  const sums = ({ added, updated, removed, skipped }: MirroringCounts) => [added, updated, removed, skipped];

  it('counts added, updated and removed endpoints', () => {
    const slices = mirrorOf(subset(['10.0.0.1', '10.0.0.2']));
    expect(sums(count([subset(['10.0.0.1', '10.0.0.2'])]))).toEqual([2, 0, 0, 0]);
    expect(sums(count([subset(['10.0.0.1', '10.0.0.2'])], slices))).toEqual([0, 0, 0, 0]);
    expect(sums(count([subset(['10.0.0.1', '10.0.0.3'])], slices))).toEqual([1, 0, 1, 0]);
    expect(sums(count([subset(['10.0.0.1'], 80, ['10.0.0.2'])], slices))).toEqual([0, 1, 0, 0]);
  });

  it('counts invalid and excess addresses as skipped', () => {
    const many = subset(['10.0.0.1', '10.0.0.2', 'nonsense', '10.0.0.3', '10.0.0.4']);
    expect(sums(count([many]))).toEqual([3, 0, 0, 2]);
  });

  it('counts endpoints as removed if their ports are still mirrored', () => {
    const slices = mirrorOf(subset(['10.0.0.1']), subset(['10.0.0.2'], 443));
    expect(sums(count([subset(['fd00::1']), subset(['10.0.0.2'], 443)], slices))).toEqual([1, 0, 1, 0]);
    expect(sums(count([subset(['10.0.0.2'], 443)], slices))).toEqual([0, 0, 0, 0]);
  });

  it('counts no endpoints of slices with an address type that is not mirrored', () => {
    const [slice = expect.unreachable('no slice')] = mirrorOf(subset(['10.0.0.1']));
    const fqdn = { ...slice, addressType: 'FQDN' as const, metadata: { ...slice.metadata, name: 'fqdn' } };
    expect(sums(count([subset(['10.0.0.1'])], [slice, fqdn]))).toEqual([0, 0, 0, 0]);
    const six = { ...fqdn, addressType: 'IPv6' as const };
    expect(sums(count([subset(['10.0.0.1'])], [slice, six, { ...six, endpoints: null }]))).toEqual([0, 0, 1, 0]);
  });

  it('counts an endpoint that a slice contains twice once', () => {
    const [slice] = mirrorOf(subset(['10.0.0.1']));
    const doubled = slice && { ...slice, endpoints: [...(slice.endpoints ?? []), ...(slice.endpoints ?? [])] };
    expect(sums(count([subset(['10.0.0.1', '10.0.0.2'])], doubled ? [doubled] : []))).toEqual([1, 0, 0, 0]);
  });
});
