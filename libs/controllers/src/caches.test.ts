import type { Plan, PodOnNode, Service } from '@sluice/model';
import { aPod, aService, onNode } from '@sluice/model/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reconcileEndpoints } from './endpoints/controller.ts';
import { reconcileEndpointSlices } from './endpointslice/controller.ts';
import { applyPlan, nothingWritten, type WrittenObjects } from './testing/apply-plan.ts';
import { arbitraryPods, changed, edited, edits, podChanges, services, stablePods } from './testing/arbitraries.ts';
import { nodeTopology, type ServiceHints } from './trackers/topology-cache.ts';
import type { TriggerTimes } from './trackers/trigger-time-tracker.ts';

/** The caches are keyed by the identity of the inputs, so copies of them miss. */

const topology = nodeTopology(
  ['a', 'b', 'c'].map((zone) => ({ name: zone, zone, ready: true, controlPlane: false, allocatableMilliCpu: 1000 })),
);

interface World {
  readonly written: WrittenObjects;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
}

const start: World = { written: nothingWritten, triggers: null, hints: null };
const max = 4;

function decideSlices({ written, triggers, hints }: World, service: Service, pods: readonly PodOnNode[]) {
  const slices = written.slices.values();
  return reconcileEndpointSlices({ service, pods, slices, triggers, topology, hints, maxEndpointsPerSlice: max });
}

function decideEndpoints({ written, triggers }: World, service: Service, pods: readonly PodOnNode[]) {
  const existing = written.endpoints.get(service.name) ?? null;
  return { ...reconcileEndpoints({ service, pods, existing, orphaned: false, triggers }), hints: null };
}

/** Returns the same Pods with some of them in another state. */
function flipped(pods: ReadonlyMap<number, PodOnNode>, flips: readonly (readonly [number, string])[]) {
  const after = new Map(pods);
  for (const [place, what] of flips) {
    const [i, entry] = [...after][place % Math.max(1, after.size)] ?? [0, undefined];
    if (entry === undefined) break;
    const { pod } = entry;
    const ready = { ready: !pod.ready, readyTransitionTime: `2024-01-01T00:0${pod.ready ? 3 : 4}:00Z` };
    const ports = { ports: pod.ports.map((port) => ({ ...port, containerPort: port.containerPort + 1 })) };
    after.set(i, {
      ...entry,
      pod: { ...pod, ...(what === 'ready' ? ready : what === 'ports' ? ports : { uid: `${pod.uid}x` }) },
    });
  }
  return after;
}

type Decide = (
  world: World,
  service: Service,
  pods: readonly PodOnNode[],
) => Omit<World, 'written'> & { readonly plan: Plan };

/** Decides with copies of all inputs, so that every cache misses. */
function afresh(decide: Decide): Decide {
  return ({ triggers, ...world }, service, pods) =>
    decide(
      { ...world, triggers: triggers && { ...triggers } },
      { ...service },
      pods.map((pod) => ({ ...pod })),
    );
}

const histories = fc.record({
  service: services,
  before: fc.oneof(stablePods, arbitraryPods),
  steps: fc.array(
    fc.record({
      podChanges: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: podChanges }),
      /** By index. */
      flips: fc.array(fc.tuple(fc.nat(23), fc.constantFrom('ready', 'ports', 'uid')), { maxLength: 3 }),
      edits: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: edits }),
      /** Whether the plan is applied. */
      succeeds: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      /** Whether the Service object is replaced. */
      isNewService: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

describe.each<[string, Decide]>([
  ['EndpointSlices', decideSlices],
  ['Endpoints', decideEndpoints],
])('a sequence of decisions on %s', (_, decide) => {
  // In parts, each short enough to run against mutants.
  it.each([1, 2, 3, 4, 5, 6])('is the same with and without caches, part %i', () => {
    fc.assert(
      fc.property(histories, ({ service: first, before, steps }) => {
        let [service, pods, world] = [first, before, start];
        for (const step of steps) {
          if (step.isNewService) service = { ...service, labels: { ...service.labels, more: 'x' } };
          pods = flipped(changed(pods, step.podChanges), step.flips);
          world = { ...world, written: { ...world.written, slices: edited(world.written.slices, step.edits, max) } };
          const decision = decide(world, service, [...pods.values()]);
          expect(decision).toEqual(afresh(decide)(world, service, [...pods.values()]));
          if (!step.succeeds) continue;
          const { plan, triggers, hints } = decision;
          world = { written: applyPlan(world.written, plan), triggers, hints };
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('one Pod of many that flips', () => {
  const service = aService();

  it('causes one write with its trigger time, every time', () => {
    const pods = new Map(Array.from({ length: 200 }, (_, i) => [i, onNode(aPod(i))] as const));
    let now: ReadonlyMap<number, PodOnNode> = pods;
    let slices = { ...start, written: applyPlan(nothingWritten, decideSlices(start, service, [...now.values()]).plan) };
    slices = { ...slices, ...decideSlices(slices, service, [...now.values()]) };
    for (let flip = 0; flip < 300; flip++) {
      const i = (flip * 7) % 200;
      const time = new Date(Date.parse('2026-02-01T00:00:00Z') + flip * 1000).toISOString().replace('.000', '');
      const ready = !(now.get(i)?.pod.ready ?? false);
      now = changed(now, [[i, onNode(aPod(i, { ready, readyTransitionTime: time }))]]);
      const decision = decideSlices(slices, service, [...now.values()]);
      const mutations = decision.plan.groups.flatMap((group) => group.mutations);
      expect(mutations).toHaveLength(1);
      expect(JSON.stringify(mutations)).toContain(time);
      expect(decision.plan).toEqual(afresh(decideSlices)(slices, service, [...now.values()]).plan);
      slices = {
        written: applyPlan(slices.written, decision.plan),
        triggers: decision.triggers,
        hints: decision.hints,
      };
    }
  });
});
