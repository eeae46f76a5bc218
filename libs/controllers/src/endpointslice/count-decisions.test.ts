import { type EndpointSlice, type PodOnNode, type Service, topologyModeAnnotation } from '@sluice/model';
import { aPod, aService, aSlice, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import type { EndpointSliceCounts } from '../sync-counts.ts';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { reconcileEndpointSlices } from './reconcile-endpointslices.ts';

const max = 3;
const dual = aService({ ipFamilies: ['IPv4', 'IPv6'] });

function decide(service: Service | null, of: readonly PodOnNode[], slices: Iterable<EndpointSlice> = []) {
  const inputs = { service, pods: of, slices, triggers: null, topology: null, hints: null, maxEndpointsPerSlice: max };
  return reconcileEndpointSlices(inputs);
}

function count(...[service, of, slices]: Parameters<typeof decide>): EndpointSliceCounts {
  const { counts } = decide(service, of, slices);
  if (counts === null) throw new Error('no counts');
  return counts;
}

/** The slices in the cluster after the Service had these Pods. */
function written(service: Service, of: readonly PodOnNode[], before: WrittenObjects = nothingWritten): WrittenObjects {
  return applyPlan(before, decide(service, of, before.slices.values()).plan);
}

const dualPods = (n: number) =>
  Array.from({ length: n }, (_, i) => onNode(aPod(i, { ips: [`10.0.0.${i + 1}`, `fd00::${i + 1}`] })));

describe('the counts of a Service (I1)', () => {
  it('contain its endpoints, its slices, and the slices needed at least', () => {
    const { slices } = written(aService(), pods(4));
    expect(count(aService(), pods(4)).service).toMatchObject({ endpoints: 4, slices: 2, desiredSlices: 2 });
    expect(count(aService(), pods(2), slices.values()).service).toMatchObject({
      endpoints: 2,
      slices: slices.size - 1,
      desiredSlices: 1,
    });
  });

  it('count each port group separately', () => {
    const named = aService({ ports: [{ ...httpPort, targetPort: 'web' }] });
    const at = (i: number, containerPort: number) =>
      onNode(aPod(i, { ports: [{ name: 'web', containerPort, protocol: 'TCP' }] }));
    const { service } = count(named, [at(1, 80), at(2, 80), at(3, 81)]);
    expect(service).toMatchObject({ endpoints: 3, slices: 2, desiredSlices: 2 });
  });

  it('contain one slice without endpoints for a placeholder', () => {
    const { slices } = written(aService(), []);
    for (const existing of [[], slices.values()]) {
      expect(count(aService(), [], existing).service).toMatchObject({ endpoints: 0, slices: 1, desiredSlices: 1 });
    }
  });

  it('cover both families of a dual-stack Service, unlike upstream, which counts the last one', () => {
    expect(count(dual, dualPods(4)).service).toMatchObject({ endpoints: 8, slices: 4, desiredSlices: 4 });
    expect(count(dual, []).service).toMatchObject({ endpoints: 0, slices: 2, desiredSlices: 2 });
    expect(count(dual, pods(1)).service).toMatchObject({ endpoints: 1, slices: 2, desiredSlices: 2 });
  });

  it('ignore slices of another owner, which are deleted', () => {
    const foreign = aSlice('foreign', { metadata: { name: 'foreign', namespace: 'shop', ownerReferences: [] } });
    expect(count(aService(), pods(1), [foreign]).service).toMatchObject({ endpoints: 1, slices: 1 });
  });

  it('are null if the controller ignores the Service', () => {
    expect(decide(null, pods(1)).counts).toBeNull();
    expect(decide(aService({ selector: null }), pods(1)).counts).toBeNull();
    expect(decide(aService({ type: 'ExternalName' }), pods(1)).counts).toBeNull();
  });
});

describe('a sync (section I)', () => {
  it('counts added and removed endpoints and writes per address type', () => {
    expect(count(dual, dualPods(4)).addressTypes).toEqual([
      { added: 4, removed: 0, changed: 2 },
      { added: 4, removed: 0, changed: 2 },
    ]);
    const { slices } = written(aService(), pods(3));
    const others = [...pods(2), onNode(aPod(7)), onNode(aPod(8))];
    const [counted] = count(aService(), others, slices.values()).addressTypes;
    // Of three Pods one is removed. One of two new Pods takes its place; the other needs a slice.
    expect(counted).toEqual({ added: 2, removed: 1, changed: 2 });
  });

  it('counts nothing when converged', () => {
    const { slices } = written(aService(), pods(5));
    expect(count(aService(), pods(5), slices.values()).addressTypes).toEqual([{ added: 0, removed: 0, changed: 0 }]);
  });

  it('does not count endpoints removed with their ports', () => {
    const { slices } = written(aService(), pods(3));
    const moved = aService({ ports: [{ ...httpPort, targetPort: 9090 }] });
    expect(count(moved, pods(3), slices.values()).addressTypes).toEqual([{ added: 3, removed: 0, changed: 1 }]);
  });
});

describe('the hinting of a Service (I2)', () => {
  const hinting = (given: Partial<Service>) => count(aService(given), []).service.hinting;
  const auto = { [topologyModeAnnotation]: 'Auto' };

  it('is its valid traffic distribution, unless topology hints take precedence', () => {
    expect(hinting({})).toEqual({ topology: 'Disabled', trafficDistribution: '' });
    expect(hinting({ trafficDistribution: 'PreferSameNode' })).toEqual({
      topology: 'Disabled',
      trafficDistribution: 'PreferSameNode',
    });
    expect(hinting({ trafficDistribution: 'PreferTheMoon' })?.trafficDistribution).toBe('');
    expect(hinting({ annotations: auto, trafficDistribution: 'PreferClose' })).toEqual({
      topology: 'Auto',
      trafficDistribution: '',
    });
  });
});
