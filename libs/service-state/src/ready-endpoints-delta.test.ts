import type { EndpointSlice, Endpoints, Mutation, MutationGroup, Pod } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { addedEndpoints, readyEndpointsDelta } from './ready-endpoints-delta.ts';
import { ServiceState } from './service-state.ts';
import { key } from './testing/messages.ts';
import { aPod, aService, aSlice, mirroring, someEndpoints } from './testing/objects.ts';

describe('ready endpoints delta', () => {
  const stamp = { epoch: 1, sequence: 1 };
  let state: ServiceState;

  beforeEach(() => {
    state = new ServiceState(key);
    state.setService({ service: aService(), stamp });
    state.setSlice('a', { slice: sliceOf('a', ['p1', 'p2', 'p3', 'p4']), stamp });
    for (const name of ['p1', 'p2', 'p3', 'p4']) setPod(name);
  });

  function setPod(name: string, given: Partial<Pod> = {}, node: { zone: string } | null = { zone: 'a' }): void {
    state.setPod(name, { pod: aPod(name, given), node, stamp });
  }

  function sliceOf(name: string, ready: readonly string[], notReady: readonly string[] = [], manager?: string) {
    const endpoint = (pod: string, isReady: boolean) => ({
      addresses: ['10.1.0.1'],
      conditions: { ready: isReady },
      targetRef: { kind: 'Pod', name: pod, uid: `uid-${pod}` },
    });
    return {
      ...aSlice(name, manager === undefined ? {} : { manager }),
      endpoints: [...ready.map((pod) => endpoint(pod, true)), ...notReady.map((pod) => endpoint(pod, false))],
    };
  }

  const update = (object: EndpointSlice): MutationGroup[] => [
    { mutations: [{ verb: 'update', resource: 'endpointslices', object }] },
  ];
  const change = (groups: readonly MutationGroup[]) => readyEndpointsDelta(state, 'endpointslice', groups, 10);

  describe('the number', () => {
    test('of endpoints that a plan adds or removes, and of all in the cluster', () => {
      expect(change(update(sliceOf('a', ['p1', 'p2'])))).toMatchObject({ delta: -2, total: 14 });
      const create = { verb: 'create', resource: 'endpointslices', object: sliceOf('b', ['p5']) } as const;
      expect(change([{ mutations: [create] }])).toEqual({ delta: 1, total: 14 });
      const remove = { verb: 'delete', resource: 'endpointslices', name: 'a' } as const;
      expect(change([{ mutations: [remove] }, { mutations: [create] }])).toMatchObject({ delta: -3 });
    });

    test('is absent if it stays the same', () => {
      expect(change(update(sliceOf('a', ['p1', 'p2', 'p3', 'p5'])))).toBeUndefined();
      expect(change([])).toBeUndefined();
    });

    test('counts ready endpoints only', () => {
      expect(change(update(sliceOf('a', ['p1', 'p2', 'p3'], ['p4'])))).toMatchObject({ delta: -1 });
    });

    test('of a plan that was released by hand is marked; one that only moves endpoints says nothing else', () => {
      const before = state.controller('endpointslice');
      state.setController('endpointslice', { ...before, requests: { ...before.requests, released: true } });
      expect(change(update(sliceOf('a', ['p1', 'p2', 'p3', 'p5', 'p6'])))).toMatchObject({ delta: 1, released: true });
      state.setController('endpointslice', before);
      const moved = change(update(sliceOf('a', ['p1', 'p2', 'p3', 'p5'], [])));
      expect(Object.keys(moved ?? {}).sort()).not.toContain('released');
      expect(Object.keys(moved ?? {}).sort()).not.toContain('evidence');
    });

    test('counts endpoints of unknown readiness as ready, and slices of the mirroring controller apart', () => {
      const unknown = {
        ...aSlice('a'),
        endpoints: [{ addresses: ['10.1.0.1'] }, { addresses: ['10.1.0.2'], conditions: {} }],
      };
      expect(change(update(unknown))).toMatchObject({ delta: -2, total: 14 });
      state.setSlice('m', { slice: sliceOf('m', ['p1'], [], mirroring), stamp });
      expect(change(update(unknown))).toMatchObject({ total: 14 });
    });

    test('of Endpoints counts their ready addresses', () => {
      const subsets = [
        { addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }] },
        { notReadyAddresses: [{ ip: '10.1.0.3' }] },
      ];
      const object: Endpoints = { ...someEndpoints(), subsets };
      const create = [{ mutations: [{ verb: 'create', resource: 'endpoints', object }] }] as const;
      expect(readyEndpointsDelta(state, 'endpoints', create, 10)).toMatchObject({ delta: 2, total: 10 });
      state.setEndpoints({ endpoints: object, stamp });
      const remove = [{ mutations: [{ verb: 'delete', resource: 'endpoints', name: 'web' }] }] as const;
      expect(readyEndpointsDelta(state, 'endpoints', remove, 10)).toMatchObject({ delta: -2, total: 12 });
    });

    test('of a plan after a failed one is marked if a former version stored the failure', () => {
      const before = state.controller('endpointslice');
      state.setController('endpointslice', { ...before, retries: { ...before.retries, parkedSince: 5 } });
      expect(change(update(sliceOf('a', [])))).toMatchObject({ repeated: true });
      state.setController('endpointslice', { ...before, retries: { ...before.retries, failures: 1 } });
      expect(change(update(sliceOf('a', [])))).toMatchObject({ repeated: true });
    });

    test('of a plan after one that was held back is marked, but not after one that the API server refused', () => {
      const before = state.controller('endpointslice');
      for (const heldBack of [true, false]) {
        const retries = { ...before.retries, failures: 1, parkedSince: 5, heldBack };
        state.setController('endpointslice', { ...before, retries });
        expect(change(update(sliceOf('a', [])))?.repeated).toBe(heldBack || undefined);
      }
    });
  });

  describe('the evidence for a removal', () => {
    const evidence = (ready: readonly string[] = []) => change(update(sliceOf('a', ready)))?.evidence;

    test('is a Pod that is deleted, replaced, not ready, terminating, or without Node', () => {
      state.removePod('p1');
      setPod('p2', { uid: 'another' });
      setPod('p3', { ready: false });
      expect(evidence(['p4'])).toEqual([
        { kind: 'pod', name: 'p1', uid: 'uid-p1' },
        { kind: 'pod', name: 'p2', uid: 'uid-p2' },
        { kind: 'readiness', name: 'p3', uid: 'uid-p3' },
      ]);
      setPod('p1', { terminating: true });
      setPod('p2', {}, null);
      setPod('p3');
      expect(evidence(['p3', 'p4'])).toEqual([
        { kind: 'readiness', name: 'p1', uid: 'uid-p1' },
        { kind: 'node', name: 'node-a' },
      ]);
    });

    test('is a Pod that has ended, even if its last status says ready', () => {
      setPod('p1', { terminal: true });
      expect(evidence(['p2', 'p3', 'p4'])).toEqual([{ kind: 'readiness', name: 'p1', uid: 'uid-p1' }]);
    });

    test('names only Pods whose endpoints were ready', () => {
      const node = { addresses: ['10.1.0.9'], targetRef: { kind: 'Node', name: 'n', uid: 'u' } };
      const before = sliceOf('a', ['p1'], ['p2']);
      state.setSlice('a', { slice: { ...before, endpoints: [...(before.endpoints ?? []), node] }, stamp });
      for (const name of ['p1', 'p2']) state.removePod(name);
      expect(evidence()).toEqual([{ kind: 'pod', name: 'p1', uid: 'uid-p1' }]);
    });

    test('covers at most three Pods', () => {
      for (const name of ['p1', 'p2', 'p3', 'p4']) state.removePod(name);
      expect(evidence()).toHaveLength(3);
    });

    test('is empty if no Pod explains it', () => {
      expect(evidence()).toEqual([]);
    });

    test('is the missing Service', () => {
      state.setService({ service: null, stamp });
      expect(evidence()).toEqual([{ kind: 'service' }]);
    });

    test('of Endpoints is in their addresses', () => {
      const before: Endpoints = {
        ...someEndpoints(),
        subsets: [{ addresses: [{ ip: '10.1.0.1', targetRef: { kind: 'Pod', name: 'p1', uid: 'uid-p1' } }] }],
      };
      state.setEndpoints({ endpoints: before, stamp });
      state.removePod('p1');
      const groups = [{ mutations: [{ verb: 'update', resource: 'endpoints', object: someEndpoints() }] }] as const;
      expect(readyEndpointsDelta(state, 'endpoints', groups, 0)).toEqual({
        delta: -1,
        total: 1,
        evidence: [{ kind: 'pod', name: 'p1', uid: 'uid-p1' }],
      });
    });

    test('of mirrored slices is deleted Endpoints, not modified ones', () => {
      state.setSlice('m', { slice: sliceOf('m', ['p1'], [], mirroring), stamp });
      const groups = [{ mutations: [{ verb: 'delete', resource: 'endpointslices', name: 'm' }] }] as const;
      const mirrored = () => readyEndpointsDelta(state, 'endpointslicemirroring', groups, 0);
      expect(mirrored()).toEqual({ delta: -1, total: 1, evidence: [{ kind: 'endpoints' }] });
      state.setEndpoints({ endpoints: someEndpoints(), stamp });
      expect(mirrored()).toMatchObject({ evidence: [] });
    });
  });
});

describe('added endpoints', () => {
  const stamp = { epoch: 1, sequence: 1 };
  let state: ServiceState;

  beforeEach(() => {
    state = new ServiceState(key);
    state.setService({ service: aService(), stamp });
    state.setSlice('a', { slice: sliceOf('a', '1', '2', '3'), stamp });
    state.setSlice('b', { slice: sliceOf('b', '4'), stamp });
  });

  const pod = (n: string) => ({ kind: 'Pod', name: `p${n}`, uid: `uid-p${n}` });
  const endpoint = (n: string, ready = true) => ({
    addresses: [`10.1.0.${n}`],
    conditions: { ready },
    targetRef: pod(n),
  });

  const sliceOf = (name: string, ...numbers: readonly string[]): EndpointSlice => ({
    ...aSlice(name),
    endpoints: numbers.map((n) => endpoint(n)),
  });

  const written = (verb: 'create' | 'update', object: EndpointSlice): Mutation =>
    verb === 'create' ? { verb, resource: 'endpointslices', object } : { verb, resource: 'endpointslices', object };
  const evidenceOf = (n: string) => ({ kind: 'pod', name: `p${n}`, uid: `uid-p${n}`, address: `10.1.0.${n}` });
  const added = (...mutations: Mutation[]) => addedEndpoints(state, 'endpointslice', mutations);

  describe('adds addresses:', () => {
    test.each([
      ['at the end', ['1', '2', '3', '5']],
      ['at the beginning', ['5', '1', '2', '3']],
      ['in the middle', ['1', '5', '2', '3']],
      ['in place of another', ['1', '5', '3']],
      ['in place of all', ['5']],
    ])('%s', (_, numbers) => {
      const update = written('update', sliceOf('a', ...numbers));
      expect(added(update)).toEqual({ count: 1, evidence: [evidenceOf('5')] });
    });

    test('a new slice', () => {
      expect(added(written('create', sliceOf('c', '5', '6')))).toEqual({
        count: 2,
        evidence: [evidenceOf('5'), evidenceOf('6')],
      });
    });

    test('an endpoint that is not ready yet, so that it cannot become ready unseen', () => {
      const slice = { ...aSlice('a'), endpoints: [endpoint('5', false)] };
      expect(added(written('update', slice))?.count).toBe(1);
    });

    test('one that is in two slices, once', () => {
      expect(added(written('create', sliceOf('c', '5')), written('create', sliceOf('d', '5')))?.count).toBe(1);
    });

    test('the same Pod with another address', () => {
      const moved = { ...endpoint('1'), addresses: ['10.9.9.9'] };
      const update = written('update', { ...aSlice('a'), endpoints: [moved, endpoint('2'), endpoint('3')] });
      expect(added(update)).toEqual({ count: 1, evidence: [{ ...evidenceOf('1'), address: '10.9.9.9' }] });
    });
  });

  describe('adds no address:', () => {
    test.each([
      ['the same endpoints', sliceOf('a', '1', '2', '3')],
      ['fewer endpoints', sliceOf('a', '1', '3')],
      ['no endpoints', aSlice('a')],
      ['another order', sliceOf('a', '3', '1', '2')],
      ['an endpoint of another slice', sliceOf('a', '1', '2', '3', '4')],
      ['an endpoint that is not ready any more', { ...aSlice('a'), endpoints: [endpoint('1', false)] }],
    ])('%s', (_, object) => {
      expect(added(written('update', object))).toBeUndefined();
    });

    test('a deletion', () => {
      expect(added({ verb: 'delete', resource: 'endpointslices', name: 'a' })).toBeUndefined();
    });
  });

  test('at most three are evidence, evenly spread', () => {
    const evidence = added(written('create', sliceOf('c', ...'5 6 7 8 9 10 11'.split(' '))))?.evidence;
    expect(evidence).toEqual(['5', '8', '11'].map(evidenceOf));
  });

  describe('Endpoints', () => {
    const address = (n: string) => ({ ip: `10.1.0.${n}`, targetRef: pod(n) });
    const endpointsOf = (ready: readonly string[], notReady: readonly string[] = []) => ({
      ...someEndpoints(),
      subsets: [{ addresses: ready.map(address), notReadyAddresses: notReady.map(address) }],
    });
    const update = (object: ReturnType<typeof endpointsOf>) =>
      addedEndpoints(state, 'endpoints', [{ verb: 'update', resource: 'endpoints', object }]);

    beforeEach(() => state.setEndpoints({ endpoints: endpointsOf(['1', '2'], ['3']), stamp }));

    test('an address that changes from not ready to ready is not new', () => {
      expect(update(endpointsOf(['1', '2', '3']))).toBeUndefined();
      expect(update(endpointsOf(['2'], ['1', '3']))).toBeUndefined();
    });

    test('any other is', () => {
      expect(update(endpointsOf(['1', '5'], ['3', '6']))).toEqual({
        count: 2,
        evidence: [evidenceOf('5'), evidenceOf('6')],
      });
    });
  });

  test('the evidence of a mirrored address is the Endpoints, whatever Pod they name', () => {
    const object = { ...aSlice('m', { manager: mirroring }), endpoints: [endpoint('5')] };
    expect(addedEndpoints(state, 'endpointslicemirroring', [written('create', object)])).toEqual({
      count: 1,
      evidence: [{ kind: 'endpoints', address: '10.1.0.5' }],
    });
  });
});
