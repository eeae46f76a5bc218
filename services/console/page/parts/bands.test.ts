import { expect, test } from 'vitest';
import type { DecidedEntry } from '../../src/view/entry-schemas.ts';
import { bandsOf } from './bands.ts';

const clusters = ['prod', 'west'].map((name) => ({
  ...{ identity: `${name}-uid`, name, version: '', server: '', state: 'watched', services: 1 },
}));
const overview = { gaps: [], outage: null, clusters };
const decided = (at: number, controller: string, epoch: number): DecidedEntry => ({
  ...{ kind: 'decided', at, controller, plan: { epoch, number: 1 }, causes: { first: [], more: 0 } },
  ...{ mutations: [], incomplete: [], events: [] },
});

test('an undisturbed history has no bands', () => {
  const entries = [decided(1, 'endpoints', 7), decided(2, 'endpointslice', 7), decided(3, 'endpoints', 7)];
  expect(bandsOf({ entries }, overview, 'prod', 9)).toEqual([]);
});

test('gaps, the outage until now, and each take-over once', () => {
  const entries = [
    decided(1, 'endpoints', 7),
    decided(1, 'endpointslice', 7),
    decided(5, 'endpointslice', 8),
    decided(6, 'endpoints', 8),
    // A late plan of the process before.
    decided(7, 'endpoints', 7),
    decided(8, 'endpoints', 8),
  ];
  const lost = clusters.map((one) => (one.name === 'prod' ? { ...one, outage: { since: 6, reason: 'timeout' } } : one));
  const disturbed = { ...overview, gaps: [{ from: 2, to: 4 }], clusters: lost };
  expect(bandsOf({ entries }, disturbed, 'prod-uid', 9)).toEqual([
    { kind: 'unrecorded', from: 2, to: 4, text: expect.stringMatching('not recorded from') },
    { kind: 'outage', from: 6, to: 9, text: expect.stringMatching(/^prod has not answered since .*timeout/) },
    { kind: 'take-over', from: 5, to: 5, text: expect.stringMatching('fencing token 8') },
  ]);
  expect(bandsOf({ entries: [] }, { ...disturbed, gaps: [] }, 'west', 9), 'of another cluster').toEqual([]);
});
