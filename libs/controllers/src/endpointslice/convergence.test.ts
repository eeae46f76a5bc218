import type { AddressType, Endpoint, EndpointPort, EndpointSlice, Plan, PodOnNode, Service } from '@sluice/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shouldPodBeInEndpoints } from '../pods.ts';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { arbitraryPods, changed, edited, edits, podChanges, services, stablePods } from '../testing/arbitraries.ts';
import { nodeTopology, type ServiceHints } from '../trackers/topology-cache.ts';
import type { TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { addressTypesOf, reconcileEndpointSlices } from './controller.ts';
import { endpointPorts, podToEndpoint } from './desired-endpoints.ts';
import { portMapKey } from './endpoint-identity.ts';
import { ownedBy } from './slice.ts';

interface World {
  readonly written: WrittenObjects;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
}

const start: World = { written: nothingWritten, triggers: null, hints: null };
const topology = nodeTopology(
  ['a', 'b', 'c'].map((zone) => ({ name: zone, zone, ready: true, controlPlane: false, allocatableMilliCpu: 1000 })),
);

function pass({ written, triggers, hints }: World, service: Service, pods: readonly PodOnNode[], max: number) {
  const inputs = {
    service,
    pods,
    slices: written.slices.values(),
    triggers,
    topology,
    hints,
    maxEndpointsPerSlice: max,
  };
  const decision = reconcileEndpointSlices(inputs);
  const world = { written: applyPlan(written, decision.plan), triggers: decision.triggers, hints: decision.hints };
  return { plan: decision.plan, world };
}

/** A Service, two states of its Pods with user edits in between, and a maximum. */
const histories = fc.record({
  service: services,
  later: fc.option(services, { nil: null, freq: 4 }),
  before: fc.oneof(stablePods, arbitraryPods),
  podChanges,
  changes: edits,
  max: fc.integer({ min: 1, max: 6 }),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

function history({ service, later, before, podChanges, changes, max }: History) {
  const first = pass(start, service, [...before.values()], max).world;
  const slices = edited(first.written.slices, changes, max);
  const world = { ...first, written: { ...first.written, slices } };
  return { world, service: later ?? service, pods: [...changed(before, podChanges).values()], max };
}

const isEmpty = ({ groups }: Plan) => groups.length === 0;

describe('slices, for any history', () => {
  it('converge in one pass: the second pass writes nothing', () => {
    fc.assert(
      fc.property(histories, (given) => {
        const { world, service: hinted, pods, max } = history(given);
        const service = { ...hinted, annotations: {} };
        const settled = pass(world, service, pods, max).world;
        expect(pass(settled, service, pods, max).plan.groups).toEqual([]);
      }),
    );
  });

  it('converge in a few passes with topology hints, which consider changed slices only', () => {
    fc.assert(
      fc.property(histories, (given) => {
        const { world, service, pods, max } = history(given);
        let now = pass(world, service, pods, max);
        for (let passes = 1; passes < 5 && !isEmpty(now.plan); passes++) now = pass(now.world, service, pods, max);
        expect(now.plan.groups).toEqual([]);
      }),
    );
  });

  it('contain each Pod exactly once per address type, with its ports, and exceed no limit (E22, K3)', () => {
    fc.assert(
      fc.property(histories, (given) => {
        const { world, service, pods, max } = history(given);
        const { written } = pass(world, service, pods, max).world;
        const slices = [...written.slices.values()];
        for (const slice of slices) expect(slice.endpoints?.length ?? 0).toBeLessThanOrEqual(max);
        for (const type of addressTypesOf(service)) {
          expect(placesIn(slices, type)).toEqual(expectedPlaces(service, pods, type));
          expect(slices.some(({ addressType }) => addressType === type)).toBe(true);
        }
        expect(slices.every(({ addressType }) => addressTypesOf(service).includes(addressType))).toBe(true);
      }),
    );
  });

  it('of another owner are deleted, never updated', () => {
    fc.assert(
      fc.property(histories, (given) => {
        const { world, service, pods, max } = history(given);
        const { plan } = pass(world, service, pods, max);
        for (const mutation of plan.groups.flatMap((group) => group.mutations)) {
          if (mutation.verb !== 'update' || mutation.resource !== 'endpointslices') continue;
          const before = world.written.slices.get(mutation.object.metadata.name);
          expect(before !== undefined && ownedBy(before, service)).toBe(true);
        }
      }),
    );
  });
});

/** Endpoints as sorted text without hints, each with its port-map key. */
function placesIn(slices: readonly EndpointSlice[], type: AddressType): string[] {
  const ofType = slices.filter(({ addressType }) => addressType === type);
  return ofType.flatMap(({ endpoints, ports }) => (endpoints ?? []).map((one) => place(one, ports ?? []))).sort();
}

function expectedPlaces(service: Service, pods: readonly PodOnNode[], type: AddressType): string[] {
  const places: string[] = [];
  for (const { pod, node } of pods) {
    if (!shouldPodBeInEndpoints(pod, true) || (node === null && !service.publishNotReadyAddresses)) continue;
    const endpoint = podToEndpoint(pod, node, service, type);
    if (endpoint.addresses.length > 0) places.push(place(endpoint, endpointPorts(service, pod)));
  }
  return places.sort();
}

function place({ hints: _hints, ...endpoint }: Endpoint, ports: readonly EndpointPort[]): string {
  return `${JSON.stringify({ ...endpoint, addresses: [...endpoint.addresses].sort() })} ${portMapKey(ports).key}`;
}
