import type { Json, JsonObject } from '@sluice/shadow';
import { describe, expect, it } from 'vitest';
import { compareScenario } from './compare-scenario.ts';
import type { RecordedEvent, Result, Vector } from './vector.ts';

const labels = { 'kubernetes.io/service-name': 'web' };
const endpoint = (address: string, more: JsonObject = {}) => ({ addresses: [address], ...more });

/** A slice as the API server stores it. */
function raw(name: string, endpoints: readonly Json[], metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name, namespace: 'shop', uid: 'u', resourceVersion: '7', labels, annotations: {}, ...metadata },
    addressType: 'IPv4',
    ports: null,
    endpoints,
  };
}

/** A slice as a vector contains it. */
function canonicalSlice(name: string, endpoints: readonly Json[], metadata: JsonObject = {}): JsonObject {
  return { metadata: { name, namespace: 'shop', labels, ...metadata }, addressType: 'IPv4', endpoints };
}

const noWrites = { create: 0, update: 0, delete: 0 };

function vector(endpointslices: readonly Json[], more: Partial<Vector> = {}): Vector {
  const round = { after: 'initial', objects: { endpoints: [], endpointslices }, writes: noWrites, events: [] };
  return { name: 'x', class: 'strict', scenario: {}, expect: { rounds: [round] }, ...more };
}

function result(endpointslices: readonly Json[], more: Partial<Result['rounds'][number]> = {}): Result {
  return { name: 'x', rounds: [{ objects: { endpoints: [], endpointslices }, ...more }] };
}

describe('compareScenario', () => {
  const expected = [canonicalSlice('web-*', [endpoint('10.0.0.1'), endpoint('10.0.0.2')])];

  it('ignores generated names, server-side metadata, empty fields and the order of endpoints', () => {
    const actual = raw('web-abcde', [endpoint('10.0.0.2', { hostname: '' }), endpoint('10.0.0.1', { zone: null })]);
    expect(compareScenario(vector(expected), result([actual]))).toEqual([]);
  });

  it('reports where an object differs', () => {
    expect(compareScenario(vector(expected), result([raw('web-abcde', [endpoint('10.0.0.1')])]))).toEqual([
      'round 0 (initial) objects.endpointslices[~].endpoints: missing element {"addresses":["10.0.0.2"]}',
    ]);
    expect(compareScenario(vector([]), result([raw('web-abcde', [])]))).toHaveLength(1);
    expect(compareScenario(vector(expected), { name: 'x', rounds: [] })).toEqual(['rounds: expected 1, got 0']);
  });

  it('compares given names literally and reports a wrong prefix', () => {
    const slice = { kind: 'EndpointSlice', metadata: { name: 'web-mine' } };
    const scenario = { objects: [slice] };
    const given = vector([canonicalSlice('web-mine', [])], { scenario });
    expect(compareScenario(given, result([{ ...raw('web-mine', []), endpoints: [] }]))).toHaveLength(1);
    const shape = vector([], { class: 'shape' });
    expect(compareScenario(shape, result([raw('other', [])])).at(-1)).toBe(
      'round 0 (initial) endpointslices: name other has no accepted prefix',
    );
  });

  it('skips rounds in which nothing runs, and trigger times on request', () => {
    const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2024-01-01T00:00:00Z' };
    const late = canonicalSlice('web-*', [endpoint('10.0.0.1')], { annotations });
    const actual = result([raw('web-abcde', [endpoint('10.0.0.1')])]);
    expect(compareScenario(vector([late]), actual)).toHaveLength(1);
    expect(compareScenario(vector([late], { triggerTime: false }), actual)).toEqual([]);
    const [round] = vector([]).expect.rounds;
    const idle = { steps: [{ op: 'apply', run: false }] };
    const still: Vector = { ...vector([]), scenario: idle, open: [1], expect: { rounds: round ? [round, round] : [] } };
    const empty = { objects: { endpoints: [], endpointslices: [] } };
    expect(compareScenario(still, { name: 'x', rounds: [empty, ...actual.rounds] })).toEqual([]);
    expect(compareScenario({ ...still, scenario: {} }, { name: 'x', rounds: [empty, ...actual.rounds] })).toHaveLength(
      1,
    );
  });

  it('compares only the shape of slices whose content is random upstream', () => {
    const sized = (size: number) => ({ metadata: { namespace: 'shop', labels }, addressType: 'IPv4', size });
    const objects = {
      endpoints: [],
      slices: [sized(1), sized(1)],
      members: [{ addressType: 'IPv4', ports: [], endpoints: [endpoint('10.0.0.1'), endpoint('10.0.0.2')] }],
    };
    const shape: Vector = {
      ...vector([], { class: 'shape' }),
      expect: { rounds: [{ after: 'initial', objects, writes: noWrites, events: [] }] },
    };
    const slices = (...addresses: string[][]) =>
      result(
        addresses.map((list, i) =>
          raw(
            `web-${i}`,
            list.map((address) => endpoint(address)),
          ),
        ),
      );
    expect(compareScenario(shape, slices(['10.0.0.2'], ['10.0.0.1']))).toEqual([]);
    expect(compareScenario(shape, slices(['10.0.0.2', '10.0.0.1'], []))).not.toEqual([]);
    expect(compareScenario(shape, slices(['10.0.0.2'], ['10.0.0.3']))).not.toEqual([]);
  });

  it('compares only the number of hints where hints are random upstream', () => {
    const hinted = (address: string, zone: string) => endpoint(address, { hints: { forZones: [{ name: zone }] } });
    const count = (zone: string, n: number) => ({
      addressType: 'IPv4',
      ports: [],
      hints: { forZones: [{ name: zone }] },
      count: n,
    });
    const objects = {
      endpoints: [],
      slices: [{ metadata: { namespace: 'shop', labels }, addressType: 'IPv4', size: 2 }],
      members: [{ addressType: 'IPv4', ports: [], endpoints: [endpoint('10.0.0.1'), endpoint('10.0.0.2')] }],
      hintCounts: [count('a', 1), count('b', 1)],
    };
    const loose: Vector = {
      ...vector([], { class: 'shape', loose: ['hints'] }),
      expect: { rounds: [{ after: 'initial', objects, writes: noWrites, events: [] }] },
    };
    expect(compareScenario(loose, result([raw('web-1', [hinted('10.0.0.1', 'b'), hinted('10.0.0.2', 'a')])]))).toEqual(
      [],
    );
    expect(
      compareScenario(loose, result([raw('web-1', [hinted('10.0.0.1', 'a'), hinted('10.0.0.2', 'a')])])),
    ).not.toEqual([]);
  });

  it('compares requests, and events unless they are those of another run', () => {
    const event = (message: string): RecordedEvent => ({
      type: 'Warning',
      reason: 'Failed',
      message,
      regarding: { kind: 'Service', namespace: 'shop', name: 'web' },
    });
    const actual = result([], {
      writes: { create: 2 },
      events: [event('error: [b, failed to update web-1 EndpointSlice for x]')],
    });
    const surplus = 'writes.create: at most 0, got 2';
    expect(compareScenario(vector([]), actual, { events: false })).toEqual([surplus]);
    expect(compareScenario(vector([]), actual)).toEqual([expect.stringContaining('events: unexpected 1'), surplus]);
    expect(compareScenario(vector([]), actual, { resyncs: false })).toEqual([surplus]);
    const recorded = event('error: [failed to update web-2 EndpointSlice for x, b]');
    const round = {
      after: 'initial',
      objects: { endpoints: [], endpointslices: [] },
      writes: noWrites,
      events: [recorded],
    };
    expect(compareScenario({ ...vector([]), expect: { rounds: [round] } }, actual)).toEqual([surplus]);
  });
});
