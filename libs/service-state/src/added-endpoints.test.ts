import type { EndpointSlice, Mutation } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { addedEndpoints } from './added-endpoints.ts';
import { ServiceState } from './service-state.ts';
import { key } from './testing/messages.ts';
import { aService, aSlice, mirroring, someEndpoints } from './testing/objects.ts';

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
