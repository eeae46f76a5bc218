import type { Fact } from '@sluice/messages';
import type { EndpointSlice, NodeTopology, Service } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { journalOf, pod, service, sliceOf, snapshot } from '../testing/records.ts';
import { explainService } from './explain-service.ts';

const auto = { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } };
const even: NodeTopology = { zoneRatios: { a: 0.4, b: 0.4, c: 0.2 }, nodesByZone: { a: 2, b: 2, c: 1 } };

/** One slice with ready endpoints in these zones, hinted for the zone after the colon: `a:a` or `a`. */
function written(zones: readonly string[], addressType: EndpointSlice['addressType'] = 'IPv4'): Fact {
  const slice = sliceOf('web-1', { version: '5', ready: true });
  const endpoints = zones.map((text, i) => {
    const [zone = '', hint] = text.split(':');
    const hints = hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } };
    return { addresses: [`10.0.0.${i}`], conditions: { ready: true }, ...(zone !== '' && { zone }), ...hints };
  });
  const metadata = { ...slice.metadata, name: `web-${addressType}`, uid: addressType };
  return {
    kind: 'slice',
    name: metadata.name,
    uid: addressType,
    slice: { ...slice, metadata, addressType, endpoints },
  };
}

const explain = (given: Partial<Service>, topology: NodeTopology | null, ...slices: Fact[]) =>
  explainService(
    journalOf(snapshot(1, 1_000, [service(given), { kind: 'topology', topology }, pod('web-1', {}), ...slices])).state,
  );

const shares = 'Allocatable CPU by zone: a 40 %, b 40 %, c 20 %.';

describe('notes about topology hints', () => {
  test('count the hints by zone, and the endpoints that the loss of each zone would leave', () => {
    expect(explain(auto, even, written(['a:a', 'a:a', 'b:b', 'b:b', 'c:c']))).toEqual([
      shares,
      'Ready endpoints have topology hints for a (2), b (2), c (1).',
      'Without zone a, ready endpoints would remain in b (2), c (1), with hints.',
      'Without zone b, ready endpoints would remain in a (2), c (1), with hints.',
      'Without zone c, ready endpoints would remain in a (2), b (2), with hints.',
    ]);
  });

  test.each<[string, NodeTopology | null, readonly string[], string]>([
    ['too few endpoints', even, ['a', 'b'], 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
    ['no Nodes', { zoneRatios: {}, nodesByZone: {} }, ['a', 'b'], 'Nodes only ready in one zone'],
    [
      'Nodes without CPU or zone',
      { zoneRatios: null, nodesByZone: { a: 1 } },
      ['a', 'b'],
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    ],
    [
      'an endpoint without zone',
      { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } },
      ['a', 'b', 'b', ''],
      'One or more endpoints do not have a zone specified',
    ],
    [
      'zones of unequal size',
      { zoneRatios: { a: 0.9, b: 0.1 }, nodesByZone: { a: 1, b: 1 } },
      ['a', 'b'],
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (2 endpoints, 2 zones)',
    ],
  ])("give upstream's reason: %s (F4)", (_, topology, zones, reason) => {
    expect(explain(auto, topology, written(zones))[1]).toBe(`No topology hints: ${reason}.`);
  });

  test('are left out if Nodes are not watched, on which topology hints depend', () => {
    const facts = [service(auto), pod('web-1', {}), written(['a', 'b'])];
    expect(explainService(journalOf(snapshot(1, 1_000, facts, { unwatched: ['nodes'] })).state)).toEqual([]);
  });

  test('say that hints are about to change', () => {
    expect(explain(auto, even, written(['a', 'a', 'b', 'b', 'c']))[1]).toBe('Topology hints are about to be added.');
    expect(explain(auto, { zoneRatios: null, nodesByZone: {} }, written(['a:a', 'b:b']))[1]).toContain(
      'for a (1), b (1), which are about to be removed: Insufficient Node information',
    );
  });

  test('say why the loss of a zone would remove the hints or all endpoints', () => {
    const two = { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } };
    expect(explain(auto, two, written(['a:a', 'b:b']))[2]).toMatch(
      /^Without zone a, ready endpoints would remain in b \(1\), without hints: Insufficient Node information/,
    );
    expect(explain(auto, even, written(['a', 'a']))[2]).toBe('Without zone a, no ready endpoint would remain.');
  });

  test('are given for each address type', () => {
    const notes = explain(
      { ...auto, ipFamilies: ['IPv4', 'IPv6'] },
      even,
      written(['a:a', 'b:b', 'c:c']),
      written(['a'], 'IPv6'),
    );
    expect(notes.slice(1).map((note) => note.slice(0, 26))).toEqual([
      'IPv4: Ready endpoints have',
      ...['a', 'b', 'c'].map((zone) => `IPv4: Without zone ${zone}, read`),
      'IPv6: No topology hints: I',
      'IPv6: Without zone a, no r',
    ]);
  });
});

test('traffic distribution: the rule, and what the loss of a zone would leave', () => {
  expect(explain({ trafficDistribution: 'PreferSameZone' }, null, written(['a:a', 'b:b', 'b:b']))).toEqual([
    'Its traffic distribution is PreferSameZone: each ready endpoint has a hint for its own location.',
    'Without zone a, ready endpoints would remain in b (2).',
    'Without zone b, ready endpoints would remain in a (1).',
  ]);
});

describe('endpoints that count', () => {
  const distribution = { trafficDistribution: 'PreferSameZone' };
  const two = { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } };
  const other = (text: string) => `Without zone ${text}.`;
  const losses = (...slices: Fact[]) => explain(distribution, null, ...slices).slice(1);

  test('are those without a zone as well, but their loss is not considered', () => {
    expect(losses(written(['a', 'b', '', '']))).toEqual([
      other('a, ready endpoints would remain in no zone (2), b (1)'),
      other('b, ready endpoints would remain in no zone (2), a (1)'),
    ]);
    expect(losses(written(['']))).toEqual([]);
  });

  test('are ready and in slices of the controller', () => {
    const slice = written(['a', 'b']);
    if (slice.kind !== 'slice' || slice.slice === null) return expect.unreachable();
    const [first, second] = slice.slice.endpoints ?? [];
    if (first === undefined || second === undefined) return expect.unreachable();
    const unready = { ...slice.slice, endpoints: [first, { ...second, conditions: { ready: false } }] };
    expect(losses({ ...slice, slice: unready })).toEqual([other('a, no ready endpoint would remain')]);
    const labels = { ...slice.slice.metadata.labels, 'endpointslice.kubernetes.io/managed-by': 'linkerd' };
    const foreign = { ...slice.slice, metadata: { ...slice.slice.metadata, labels } };
    expect(losses({ ...slice, slice: foreign })).toEqual([]);
    expect(losses({ ...slice, slice: { ...slice.slice, endpoints: null as never } })).toEqual([]);
  });

  test('of a Service with topology hints keep them only if the zones that remain can have some', () => {
    expect(explain(auto, null, written(['a:a', 'b:b'])).slice(0, 2)).toEqual([
      'The Nodes do not report enough for topology hints.',
      expect.stringMatching(
        /^Ready endpoints have topology hints for a \(1\), b \(1\), which are about to be removed: /,
      ),
    ]);
    expect(explain(auto, null, written(['a', 'b']))[2]).toMatch(
      /^Without zone a, ready endpoints would remain in b \(1\), without hints: /,
    );
    const reason = 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
    expect(explain(auto, two, written(['a:a', 'b:b'])).slice(2)).toEqual([
      `Without zone a, ready endpoints would remain in b (1), without hints: ${reason}.`,
      `Without zone b, ready endpoints would remain in a (1), without hints: ${reason}.`,
    ]);
  });

  test('are enough or too few by the CPU of the zones that remain, not by that of all', () => {
    const ratios = { zoneRatios: { a: 0.2, b: 0.4, c: 0.4 }, nodesByZone: { a: 1, b: 1, c: 1 } };
    const notes = explain(auto, ratios, written(['a:a', 'b:b', 'c:c']));
    expect(notes[0]).toBe('Allocatable CPU by zone: a 20 %, b 40 %, c 40 %.');
    expect(notes[2]).toBe('Without zone a, ready endpoints would remain in b (1), c (1), with hints.');
  });
});
