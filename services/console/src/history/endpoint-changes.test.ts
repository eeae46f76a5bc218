import { podOf } from '@sluice/controllers';
import type { Endpoint, EndpointSlice } from '@sluice/model';
import { aSlice } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import { endpointChanges, endpointState, withoutMoves } from './endpoint-changes.ts';

const endpoint = (pod: string, given: Partial<Endpoint> = {}): Endpoint => ({
  addresses: ['10.0.0.1'],
  conditions: { ready: true, serving: true, terminating: false },
  ...(pod !== '' && { targetRef: { kind: 'Pod', namespace: 'shop', name: pod } }),
  zone: 'a',
  ...given,
});
const slice = (...endpoints: Endpoint[]): EndpointSlice => aSlice('web-x', { endpoints });
const ready = endpointState(endpoint('web-1'));

describe('the state of an endpoint for a proxy', () => {
  test.each<[string, Partial<Endpoint>, Partial<typeof ready>]>([
    ['unset conditions mean ready', { conditions: {} }, { ready: true, serving: true, terminating: false }],
    ['serving follows ready if it is unset', { conditions: { ready: false } }, { ready: false, serving: false }],
    ['serving may differ from ready', { conditions: { ready: false, serving: true } }, { ready: false, serving: true }],
    ['terminating', { conditions: { terminating: true } }, { terminating: true }],
    [
      'hints for zones, then for Nodes',
      { hints: { forZones: [{ name: 'a' }, { name: 'b' }], forNodes: [{ name: 'n1' }] } },
      { hints: ['a', 'b', 'node:n1'] },
    ],
  ])('%s', (_, given, expected) => {
    expect(endpointState(endpoint('web-1', given))).toEqual({ ...ready, ...expected });
  });

  test('an endpoint without conditions, zone and hints is ready', () => {
    expect(endpointState({ addresses: ['10.0.0.1'] })).toEqual({
      ...{ ready: true, serving: true, terminating: false },
      ...{ zone: '', hints: [] },
    });
  });

  test('only a reference to a Pod names a Pod', () => {
    expect(podOf(endpoint('web-1'))).toBe('web-1');
    expect(podOf(endpoint('', { targetRef: { kind: 'Node', name: 'node-a' } }))).toBe('');
    expect(podOf(endpoint('', { targetRef: { kind: 'Pod' } }))).toBe('');
    expect(podOf(endpoint(''))).toBe('');
  });
});

describe('how a write changes the endpoints of a slice', () => {
  const change = { pod: 'web-1', addresses: ['10.0.0.1'], slice: 'web-x' };

  test('adds, removes and changes endpoints', () => {
    const notReady = endpoint('web-1', { conditions: { ready: false, serving: false, terminating: false } });
    const after = { ...ready, ready: false, serving: false };
    expect(endpointChanges('web-x', null, slice(endpoint('web-1')))).toEqual([
      { ...change, type: 'added', before: null, after: ready },
    ]);
    expect(endpointChanges('web-x', slice(endpoint('web-1')), null)).toEqual([
      { ...change, type: 'removed', before: ready, after: null },
    ]);
    expect(endpointChanges('web-x', slice(endpoint('web-1')), slice(notReady))).toEqual([
      { ...change, type: 'changed', before: ready, after },
    ]);
  });

  test.each<[string, Partial<Endpoint>]>([
    ['ready', { conditions: { ready: false, serving: true, terminating: false } }],
    ['serving', { conditions: { ready: true, serving: false, terminating: false } }],
    ['terminating', { conditions: { ready: true, serving: true, terminating: true } }],
    ['the zone', { zone: 'b' }],
    ['the number of hints', { hints: { forZones: [{ name: 'a' }] } }],
  ])('%s is a change', (_, given) => {
    const changes = endpointChanges('web-x', slice(endpoint('web-1')), slice(endpoint('web-1', given)));
    expect(changes).toMatchObject([{ type: 'changed', pod: 'web-1' }]);
    expect(endpointChanges('web-x', slice(endpoint('web-1', given)), slice(endpoint('web-1', given)))).toEqual([]);
  });

  test('another hint is a change, the same hints are none', () => {
    const hinted = (...names: string[]) =>
      slice(endpoint('web-1', { hints: { forZones: names.map((name) => ({ name })) } }));
    expect(endpointChanges('web-x', hinted('a', 'b'), hinted('a', 'c'))).toHaveLength(1);
    expect(endpointChanges('web-x', hinted('a', 'b'), hinted('a', 'b'))).toEqual([]);
  });

  test('the same Pod with another address, or another Pod with the same address, is another endpoint', () => {
    const types = (after: Endpoint) =>
      endpointChanges('web-x', slice(endpoint('web-1')), slice(after)).map(({ type, pod }) => `${type} ${pod}`);
    expect(types(endpoint('web-1', { addresses: ['10.0.0.2'] }))).toEqual(['added web-1', 'removed web-1']);
    expect(types(endpoint('web-2'))).toEqual(['added web-2', 'removed web-1']);
  });
});

describe('an endpoint that moves to another slice', () => {
  const added = endpointChanges('web-y', null, slice(endpoint('web-1')));
  const removed = endpointChanges('web-x', slice(endpoint('web-1')), null);

  test('is no change if its state is the same, in whatever order the slices are written', () => {
    expect(withoutMoves([...added, ...removed])).toEqual([]);
    expect(withoutMoves([...removed, ...added])).toEqual([]);
  });

  test('is one change if its state differs', () => {
    const before = endpointChanges('web-x', slice(endpoint('web-1', { zone: 'b' })), null);
    expect(withoutMoves([...before, ...added])).toEqual([
      { ...added[0], type: 'changed', slice: 'web-y', before: { ...ready, zone: 'b' } },
    ]);
  });

  test('hides no other endpoint', () => {
    const others = endpointChanges('web-x', slice(endpoint('web-2')), slice(endpoint('web-3')));
    expect(withoutMoves([...added, ...others, ...removed])).toEqual(others);
    const changed = endpointChanges('web-x', slice(endpoint('web-1')), slice(endpoint('web-1', { zone: 'b' })));
    expect(withoutMoves([...changed])).toEqual(changed);
  });
});
