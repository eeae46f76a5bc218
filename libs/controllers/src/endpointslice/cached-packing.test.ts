import type { EndpointSlice, Pod, PodOnNode, Service } from '@sluice/model';
import { aPod, aService, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { defaultPolicy } from '../controller.ts';
import { applyPlan } from '../testing/apply-plan.ts';
import { type AddressTypeInputs, packFromCache } from './cached-packing.ts';
import { reconcileByAddressType } from './reconcile-by-address-type.ts';

const max = 3;

function inputsOf(
  service: Service,
  of: readonly PodOnNode[],
  slices: readonly EndpointSlice[],
  given: Partial<AddressTypeInputs> = {},
): AddressTypeInputs {
  return {
    ...{ service, type: 'IPv4', pods: of, slices, maxEndpointsPerSlice: max },
    ...{ triggerTime: null, topology: null, hints: null, policy: defaultPolicy, ...given },
  };
}

/** Decides and applies the plan. Every decision must equal one that cannot continue from the last one. */
function decide(inputs: AddressTypeInputs) {
  const isIncremental = packFromCache(inputs) !== undefined;
  const decision = reconcileByAddressType(inputs);
  expect(decision).toEqual(reconcileByAddressType({ ...inputs, service: { ...inputs.service } }));
  const { mutations } = decision;
  const plan = { groups: [{ mutations }], events: [], incomplete: [] };
  const before = new Map(inputs.slices.map((slice) => [slice.metadata.name, slice]));
  const slices = [...applyPlan({ endpoints: new Map(), slices: before }, plan).slices.values()];
  return { ...decision, isIncremental, slices };
}

const written = (inputs: AddressTypeInputs) => decide(inputs).slices;
const isIncremental = (inputs: AddressTypeInputs) => decide(inputs).isIncremental;

/** The same Pods, those of the given numbers in another state. */
function changed(before: readonly PodOnNode[], changes: Readonly<Record<number, Partial<Pod>>>): PodOnNode[] {
  return before.map((one, i) => (changes[i] === undefined ? one : { ...one, pod: { ...one.pod, ...changes[i] } }));
}

const webPort = (containerPort: number) => ({ name: 'web', protocol: 'TCP', containerPort });
const named = [{ ...httpPort, targetPort: 'web' }];
/** Two port groups, with two slices and one. */
const sevenPods = [...pods(5, { ports: [webPort(80)] }), onNode(aPod(5, { ports: [webPort(81)] })), onNode(aPod(6))];

describe('the next decision for a Service continues from the last one', () => {
  it.each<[string, Record<number, Partial<Pod>>, number]>([
    ['no Pod changes', {}, 0],
    ['a Pod changes in what endpoints do not show', { 1: { readyTransitionTime: '2026-01-01T00:09:00Z' } }, 0],
    ['a Pod becomes unready', { 1: { ready: false } }, 1],
    ['Pods of one slice become unready', { 0: { ready: false }, 2: { ready: false } }, 1],
    ['Pods of several slices change', { 0: { ready: false }, 4: { uid: 'other' }, 5: { terminating: true } }, 3],
    ['a Pod without the ports becomes unready', { 6: { ready: false } }, 1],
  ])('if %s', (_, changes, writes) => {
    for (const trafficDistribution of [null, 'PreferClose']) {
      const service = aService({ ports: named, trafficDistribution });
      const slices = written(inputsOf(service, sevenPods, []));
      const { isIncremental, mutations } = decide(inputsOf(service, changed(sevenPods, changes), slices));
      expect([isIncremental, mutations.length]).toEqual([true, writes]);
    }
  });

  it('but not after the deletion of an empty slice of other ports, which may have failed', () => {
    const service = aService();
    const [full] = written(inputsOf(service, pods(2), []));
    if (full === undefined) throw new Error('no slice was written');
    const ports = (full.ports ?? []).map((one) => ({ ...one, port: 9 }));
    const empty = { ...full, metadata: { ...full.metadata, name: 'web-empty' }, ports, endpoints: [] };
    const deletion = [{ verb: 'delete', name: 'web-empty' }];
    expect(decide(inputsOf(service, pods(2), [full, empty])).mutations).toMatchObject(deletion);
    expect(decide(inputsOf(service, pods(2), [full, empty])).mutations).toMatchObject(deletion);
  });

  it('if a Pod moves to another zone', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(4), []));
    const moved = pods(4).with(1, onNode(aPod(1), 'b'));
    expect(isIncremental(inputsOf(service, moved, slices))).toBe(true);
  });

  it('if a user changes the labels of a slice', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(5), []));
    const labelled = slices.map((slice, i): EndpointSlice => {
      const labels = { ...slice.metadata.labels, mine: 'x' };
      return i === 0 ? { ...slice, metadata: { ...slice.metadata, labels } } : slice;
    });
    for (const changes of [{}, { 0: { ready: false } }, { 4: { ready: false } }]) {
      written(inputsOf(service, pods(5), slices));
      const { isIncremental, slices: after } = decide(inputsOf(service, changed(pods(5), changes), labelled));
      expect(isIncremental).toBe(true);
      expect(after.map(({ metadata }) => metadata.labels?.mine)).toEqual([undefined, undefined]);
    }
  });

  it('and reports the same Pods as skipped', () => {
    const service = aService();
    const of = [...pods(3), { pod: aPod(8), node: null }];
    const slices = written(inputsOf(service, of, []));
    const next = decide(inputsOf(service, changed(of, { 0: { ready: false } }), slices));
    expect([next.isIncremental, next.skipped.length]).toEqual([true, 1]);
  });

  it.each([null, 'PreferClose'])('decision after decision, with the traffic distribution %s', (trafficDistribution) => {
    const service = aService({ trafficDistribution });
    let of: readonly PodOnNode[] = pods(7);
    let slices = written(inputsOf(service, of, []));
    for (const i of [1, 6, 1, 3, 6, 0]) {
      of = changed(of, { [i]: { ready: of[i]?.pod.ready !== true } });
      const next = decide(inputsOf(service, of, slices));
      expect([next.isIncremental, next.mutations.length]).toEqual([true, 1]);
      slices = next.slices;
    }
  });
});

describe('the next decision for a Service is a new one', () => {
  it.each<[string, (before: readonly PodOnNode[]) => readonly PodOnNode[]]>([
    ['a Pod is added', (before) => [...before, onNode(aPod(9, { ports: [webPort(80)] }))]],
    ['a Pod is removed', (before) => before.slice(1)],
    ['Pods come in another order', (before) => before.toReversed()],
    ['a Pod has another address', (before) => changed(before, { 1: { ips: ['10.9.9.9'] } })],
    ['a Pod has no address of the type', (before) => changed(before, { 1: { ips: ['fd00::1'] } })],
    ['a Pod has another hostname', (before) => changed(before, { 1: { hostname: 'one', subdomain: 'web' } })],
    ['a Pod has another number for a port', (before) => changed(before, { 1: { ports: [webPort(81)] } })],
    ['a Pod has none of the ports any more', (before) => changed(before, { 1: { ports: [] } })],
    ['a Pod has ended', (before) => changed(before, { 1: { terminal: true } })],
    ['the Node of a Pod is gone', (before) => before.map((one, i) => (i === 1 ? { ...one, node: null } : one))],
  ])('if %s', (_, change) => {
    const service = aService({ ports: named });
    const slices = written(inputsOf(service, sevenPods, []));
    expect(isIncremental(inputsOf(service, change(sevenPods), slices))).toBe(false);
  });

  it.each<[string, (slices: readonly EndpointSlice[]) => readonly EndpointSlice[]]>([
    ['is missing', (slices) => slices.slice(1)],
    ['is new', ([first, ...others]) => [...twins(first), ...others]],
    ['is there twice, instead of another', ([first, , ...others]) => [...twins(first), ...others]],
    [
      'has other endpoints',
      (slices) => withFirst(slices, ({ endpoints }) => ({ endpoints: endpoints?.slice(1) ?? null })),
    ],
    ['has no endpoints', (slices) => withFirst(slices, () => ({ endpoints: null }))],
    ['has other ports', (slices) => withFirst(slices, () => ({ ports: [{ name: 'http', port: 1 }] }))],
    [
      'is not owned by the Service',
      (slices) => withFirst(slices, ({ metadata }) => ({ metadata: { ...metadata, ownerReferences: [] } })),
    ],
  ])('if a slice %s', (_, change) => {
    const service = aService({ ports: named });
    const slices = written(inputsOf(service, sevenPods, []));
    expect(isIncremental(inputsOf(service, sevenPods, change(slices)))).toBe(false);
  });

  it('if slices may have another size', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(3), []));
    expect(isIncremental(inputsOf(service, pods(3), slices, { maxEndpointsPerSlice: max + 1 }))).toBe(false);
  });

  it('if the Service is another object, or another address type was decided', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(3), []));
    expect(isIncremental(inputsOf({ ...service }, pods(3), slices))).toBe(false);
    expect(isIncremental(inputsOf(service, pods(3), [], { type: 'IPv6' }))).toBe(false);
  });

  it('if there was only a placeholder', () => {
    const service = aService();
    const slices = written(inputsOf(service, [], []));
    expect(isIncremental(inputsOf(service, [], slices))).toBe(false);
  });

  it('if the last one deleted a slice', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(6), []));
    const left = written(inputsOf(service, pods(3), slices));
    expect(isIncremental(inputsOf(service, pods(3), left))).toBe(false);
    expect(isIncremental(inputsOf(service, pods(3), left))).toBe(true);
  });

  it('if the last one was not written', () => {
    const service = aService();
    const slices = written(inputsOf(service, pods(4), []));
    const flipped = changed(pods(4), { 0: { ready: false } });
    reconcileByAddressType(inputsOf(service, flipped, slices));
    expect(isIncremental(inputsOf(service, flipped, slices))).toBe(false);
  });
});

const twins = (slice: EndpointSlice | undefined): EndpointSlice[] =>
  slice === undefined ? [] : [slice, { ...slice, metadata: { ...slice.metadata, name: 'twin' } }];

function withFirst(
  slices: readonly EndpointSlice[],
  change: (slice: EndpointSlice) => Partial<EndpointSlice>,
): EndpointSlice[] {
  return slices.map((slice, i) => (i === 0 ? { ...slice, ...change(slice) } : slice));
}
