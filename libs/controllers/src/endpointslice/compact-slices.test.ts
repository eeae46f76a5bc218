import type { Endpoint, EndpointSlice, MutationGroup, PodOnNode, Service } from '@sluice/model';
import { aService } from '@sluice/model/testing';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { arbitraryPods, services, stablePods } from '../testing/arbitraries.ts';
import { nodeTopology, type ServiceHints } from '../trackers/topology-cache.ts';
import type { TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { compactSlices } from './compact-slices.ts';
import { reconcileEndpointSlices } from './controller.ts';
import { portMapKey } from './endpoint-identity.ts';
import { newEndpointSlice } from './slice.ts';

const topology = nodeTopology(
  ['a', 'b', 'c'].map((zone) => ({ name: zone, zone, ready: true, controlPlane: false, allocatableMilliCpu: 1000 })),
);

interface World {
  readonly written: WrittenObjects;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
}

const start: World = { written: nothingWritten, triggers: null, hints: null };

function decide({ written, triggers, hints }: World, service: Service, pods: readonly PodOnNode[], max: number) {
  const slices = written.slices.values();
  return reconcileEndpointSlices({ service, pods, slices, triggers, topology, hints, maxEndpointsPerSlice: max });
}

/** Decides and writes until nothing is left to do. */
function converged(world: World, service: Service, pods: readonly PodOnNode[], max: number): World {
  let now = world;
  for (let passes = 0; passes < 6; passes++) {
    const { plan, triggers, hints } = decide(now, service, pods, max);
    if (plan.groups.length === 0) return now;
    now = { written: applyPlan(now.written, plan), triggers, hints };
  }
  throw new Error('does not converge');
}

/** A Service whose slices churn has left partly empty. */
const churned = fc
  .record({
    service: services,
    before: fc.oneof(stablePods, arbitraryPods),
    /** Pods that are deleted one after another. */
    gone: fc.array(fc.nat(23), { maxLength: 16 }),
    max: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ service, before, gone, max }) => {
    const pods = new Map(before);
    let world = converged(start, service, [...pods.values()], max);
    for (const i of gone) {
      pods.delete(i);
      world = converged(world, service, [...pods.values()], max);
    }
    return { world, service, pods: [...pods.values()], max };
  });

const planOf = (groups: readonly MutationGroup[]) => ({ groups, events: [], incomplete: [] });

/** Every endpoint with the ports of its slice, once, as text. */
function union({ slices }: WrittenObjects): string[] {
  const places = [...slices.values()].flatMap(({ addressType, endpoints, ports }) =>
    (endpoints ?? []).map((one: Endpoint) => `${JSON.stringify(one)} ${addressType} ${portMapKey(ports).key}`),
  );
  return [...new Set(places)].sort();
}

/** Numbers of endpoints in the slices of each address type with the same ports. */
function sizes({ slices }: WrittenObjects): readonly (readonly number[])[] {
  const sets = Map.groupBy(slices.values(), ({ addressType, ports }) => `${addressType} ${portMapKey(ports).key}`);
  return [...sets.values()].map((set) => set.map(({ endpoints }) => endpoints?.length ?? 0).sort((a, b) => b - a));
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

describe('a compaction, for any churned Service', () => {
  it('keeps the union of all slices unchanged after each write', () => {
    fc.assert(
      fc.property(churned, fc.integer({ min: 1, max: 20 }), ({ world, service, max }, maxWrites) => {
        const { groups } = compactSlices({
          service,
          slices: world.written.slices.values(),
          maxEndpointsPerSlice: max,
          maxWrites,
        });
        let written = world.written;
        for (const mutation of groups.flatMap(({ mutations }) => mutations)) {
          written = applyPlan(written, planOf([{ mutations: [mutation] }]));
          expect(union(written)).toEqual(union(world.written));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('needs the fewest slices and moves the fewest endpoints if its writes are not limited', () => {
    fc.assert(
      fc.property(churned, ({ world, service, max }) => {
        const before = sizes(world.written);
        const done = compactSlices({
          ...{ service, slices: world.written.slices.values() },
          ...{ maxEndpointsPerSlice: max, maxWrites: Number.POSITIVE_INFINITY },
        });
        const written = applyPlan(world.written, planOf(done.groups));
        const fewest = before.map((set) => Math.max(1, Math.ceil(sum(set) / max)));
        expect(sizes(written).map(({ length }) => length)).toEqual(fewest);
        // Whatever stays must be in that many slices, and no slices hold more than the fullest.
        expect(done.moved).toBe(sum(before.map((set, i) => sum(set.slice(fewest[i])))));
        expect(done.removed).toBe(world.written.slices.size - written.slices.size);
        expect(Math.max(0, ...sizes(written).flat())).toBeLessThanOrEqual(max);
      }),
      { numRuns: 300 },
    );
  });

  it('in steps of limited writes stays within the limit and ends with as few slices and moves', () => {
    fc.assert(
      fc.property(churned, fc.integer({ min: 2, max: 4 }), ({ world, service, max }, maxWrites) => {
        const inputs = { service, maxEndpointsPerSlice: max };
        const whole = compactSlices({ ...inputs, slices: world.written.slices.values(), maxWrites: 1000 });
        // Emptying one slice may take several updates, which cannot be divided into steps.
        fc.pre(whole.groups.every(({ mutations }) => largestSourceWrites(world.written, mutations, max) <= maxWrites));
        let { written } = world;
        let [moved, removed] = [0, 0];
        for (;;) {
          const step = compactSlices({ ...inputs, slices: written.slices.values(), maxWrites });
          expect(step.writes).toBeLessThanOrEqual(maxWrites);
          if (step.writes === 0) break;
          written = applyPlan(written, planOf(step.groups));
          moved += step.moved;
          removed += step.removed;
        }
        expect({ moved, removed }).toEqual({ moved: whole.moved, removed: whole.removed });
      }),
      { numRuns: 300 },
    );
  });

  it('leaves nothing for the controller to write, and nothing to compact', () => {
    fc.assert(
      fc.property(churned, ({ world, service, pods, max }) => {
        const inputs = { service, maxEndpointsPerSlice: max, maxWrites: 1000 };
        const { groups } = compactSlices({ ...inputs, slices: world.written.slices.values() });
        const written = applyPlan(world.written, planOf(groups));
        expect(decide({ ...world, written }, service, pods, max).plan.groups).toEqual([]);
        expect(compactSlices({ ...inputs, slices: written.slices.values() }).writes).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('that fails halfway is completed or undone by the controller, without losing an endpoint at any write', () => {
    fc.assert(
      fc.property(churned, fc.nat(10), ({ world, service, pods, max }, applied) => {
        const { groups } = compactSlices({
          ...{ service, slices: world.written.slices.values(), maxEndpointsPerSlice: max, maxWrites: 1000 },
        });
        const mutations = groups.flatMap((group) => group.mutations).slice(0, applied);
        const halfway = { ...world, written: applyPlan(world.written, planOf([{ mutations }])) };
        const { plan } = decide(halfway, service, pods, max);
        let { written } = halfway;
        for (const mutation of plan.groups.flatMap((group) => group.mutations)) {
          written = applyPlan(written, planOf([{ mutations: [mutation] }]));
          expect(withoutHints(written)).toEqual(withoutHints(world.written));
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Upper bound of the writes that empty one more slice. */
function largestSourceWrites({ slices }: WrittenObjects, mutations: MutationGroup['mutations'], max: number): number {
  const held = mutations.map((one) => (one.verb === 'delete' ? (slices.get(one.name)?.endpoints?.length ?? 0) : 0));
  const free = mutations.flatMap((one) =>
    one.verb === 'update' && one.resource === 'endpointslices'
      ? max - (slices.get(one.object.metadata.name)?.endpoints?.length ?? 0)
      : [],
  );
  return 2 + Math.ceil(Math.max(0, ...held) / Math.max(1, Math.min(max, ...free)));
}

function withoutHints({ slices }: WrittenObjects): string[] {
  const names = [...slices.values()].flatMap(({ addressType, endpoints }) =>
    (endpoints ?? []).map(({ hints: _hints, ...one }) => `${addressType} ${JSON.stringify(one)}`),
  );
  return [...new Set(names)].sort();
}

const service = aService();
const sliceOf = (name: string, endpoints: number, change: Partial<EndpointSlice['metadata']> = {}): EndpointSlice => {
  const list = Array.from({ length: endpoints }, (_, i) => ({
    addresses: [`10.0.${name.length}.${i}`],
    hostname: name,
  }));
  const slice = newEndpointSlice(service, 'IPv4', [{ name: 'http', port: 80, protocol: 'TCP' }], list);
  return { ...slice, metadata: { ...slice.metadata, name, uid: name, resourceVersion: '1', ...change } };
};
const compact = (slices: readonly EndpointSlice[], limits: { maxWrites?: number; onlyWorthwhile?: boolean } = {}) =>
  compactSlices({ service, slices, maxEndpointsPerSlice: 100, maxWrites: 1000, ...limits });
const verbs = (groups: readonly MutationGroup[]) =>
  groups.flatMap(({ mutations }) =>
    mutations.map((one) => `${one.verb} ${one.verb === 'delete' ? one.name : one.object.metadata.name}`),
  );

test('endpoints move into the emptiest of the slices that stay, and the emptied slices are deleted last', () => {
  const { groups, moved } = compact([sliceOf('a', 90), sliceOf('b', 10), sliceOf('c', 50), sliceOf('d', 5)]);
  expect(verbs(groups)).toEqual(['update c', 'delete d', 'delete b']);
  expect(moved).toBe(15);
});

test('a delete has the uid and resourceVersion of the slice as preconditions, an update its resourceVersion', () => {
  const { groups } = compact([sliceOf('a', 60), sliceOf('b', 10)]);
  expect(groups).toMatchObject([
    { mutations: [{ object: { metadata: { resourceVersion: '1' } } }, { name: 'b', uid: 'b', resourceVersion: '1' }] },
  ]);
});

test('a move that updates more slices than it deletes is not worthwhile', () => {
  const slices = Array.from({ length: 12 }, (_, i) => sliceOf(`s${i}`, 91));
  expect(compact(slices)).toMatchObject({ removed: 1, moved: 91, writes: 12 });
  expect(compact(slices, { onlyWorthwhile: true }).writes).toBe(0);
});

test('slices of another owner, slices being deleted and slices beyond the maximum are left alone', () => {
  expect(compact([sliceOf('a', 10), sliceOf('b', 10, { ownerReferences: [] })]).writes).toBe(0);
  expect(compact([sliceOf('a', 10), sliceOf('b', 10, { deletionTimestamp: '2026-01-01T00:00:00Z' })]).writes).toBe(0);
  const { groups } = compact([sliceOf('a', 150), sliceOf('b', 10), sliceOf('c', 20)]);
  expect(verbs(groups)).toEqual(['update c', 'delete b']);
});

test('the trigger time of the last change is removed, so that kube-proxy measures no latency', () => {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z', other: 'x' };
  const { groups } = compact([sliceOf('a', 60, { annotations }), sliceOf('b', 10)]);
  expect(groups[0]?.mutations[0]).toMatchObject({ object: { metadata: { annotations: { other: 'x' } } } });
  expect(JSON.stringify(groups)).not.toContain('last-change-trigger-time');
});
