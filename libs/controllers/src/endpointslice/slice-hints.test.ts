import type { Endpoint, EndpointHints } from '@sluice/model';
import { aSlice } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { hintTargets, mapEndpoints, removeHintsFromSlices, withHints } from './slice-hints.ts';

const hints: EndpointHints = { forZones: [{ name: 'a' }, { name: 'b' }] };
const plain: Endpoint = { addresses: ['10.0.0.1'] };
const hinted: Endpoint = { ...plain, hints };
const slice = (name: string, ...endpoints: Endpoint[]) => aSlice(name, { endpoints });

describe('hints', () => {
  it('are removed from all slices; unchanged ones that had some are updated (F10)', () => {
    const [plainSlice, bare] = [slice('b', plain), aSlice('c', { endpoints: null })];
    const lists = {
      toCreate: [slice('', hinted)],
      toUpdate: [slice('u', plain, hinted)],
      unchanged: [slice('a', plain, hinted), plainSlice, bare],
    };
    expect(removeHintsFromSlices(lists)).toStrictEqual({
      toCreate: [slice('', plain)],
      toUpdate: [slice('u', plain, plain), slice('a', plain, plain)],
      unchanged: [plainSlice, bare],
    });
  });

  it('that no slice has change nothing', () => {
    const lists = { toCreate: [slice('', plain)], toUpdate: [slice('u', plain)], unchanged: [slice('a', plain)] };
    const after = removeHintsFromSlices(lists);
    expect(after.unchanged).toBe(lists.unchanged);
    expect(after.toCreate[0]).toBe(lists.toCreate[0]);
    expect(after.toUpdate[0]).toBe(lists.toUpdate[0]);
  });

  it('are set on an endpoint, or removed from one that has some', () => {
    expect(withHints(plain, hints)).toEqual(hinted);
    expect(withHints({ ...plain, hints: {} }, hints)).toEqual(hinted);
    expect(withHints(hinted, null)).toStrictEqual(plain);
    expect(withHints(plain, null)).toBe(plain);
    const nullHints = { ...plain, hints: null } as object as Endpoint;
    expect(withHints(nullHints, null)).toBe(nullHints);
  });

  it('name zones or nodes', () => {
    expect([hintTargets(hints.forZones), hintTargets(null), hintTargets(undefined)]).toEqual([['a', 'b'], [], []]);
  });
});

it('a slice is the same object if none of its endpoints changes', () => {
  const before = slice('s', plain, hinted);
  expect(mapEndpoints(before, (endpoint) => endpoint)).toBe(before);
  const without = mapEndpoints(before, (endpoint) => (endpoint === hinted ? plain : endpoint));
  expect(without).toStrictEqual(slice('s', plain, plain));
});
