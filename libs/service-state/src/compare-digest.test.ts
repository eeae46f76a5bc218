import { type Change, digestFacts, type Fact } from '@sluice/messages';
import { beforeEach, expect, test } from 'vitest';
import { applyChange } from './apply-change.ts';
import { awaitsSnapshot, differences } from './compare-digest.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aService, aSlice, someEndpoints } from './testing/objects.ts';

const topology: Fact = { kind: 'topology', topology: { zoneRatios: { a: 1 }, nodesByZone: { a: 2 } } };
const known: readonly Fact[] = [
  { kind: 'service', service: aService() },
  topology,
  fact.pod('p'),
  fact.pod('q', false),
  fact.endpoints(),
  fact.slice('s', { version: 7 }),
];
const resourceVersions = { endpoints: '10', endpointslices: '10' };
let view: ServiceState;
let n: number;

beforeEach(() => {
  view = new ServiceState(key);
  n = 1;
  fold(aSnapshot(n, known));
});

function fold(change: Change): Change {
  applyChange(view, change, 0, defaultSettings);
  return change;
}

/** What differs, once a watcher that knows these facts has said so. */
const compared = (facts: readonly Fact[], given: Partial<Change> = {}) =>
  differences(view, fold(aChange(++n, [], { resourceVersions, digest: digestFacts(facts), ...given })));

test('nothing differs from what was told', () => {
  expect(compared(known)).toEqual([]);
  expect(compared([...known].reverse())).toEqual([]);
});

test.each<[string, () => void, string[]]>([
  ['a Pod was lost', () => view.removePod('p'), ['pods']],
  ['a Pod was left over', () => fold(aChange(++n, [fact.pod('r')])), ['pods']],
  ['a Pod has another state', () => fold(aChange(++n, [fact.pod('q', true)])), ['pods']],
  ['a Pod is in another zone', () => fold(aChange(++n, [fact.pod('p', true, 'b')])), ['pods']],
  [
    'the Service is another',
    () => fold(aChange(++n, [{ kind: 'service', service: aService({ uid: 'x' }) }])),
    ['service'],
  ],
  ['the zones are gone', () => view.set('topology', undefined), ['topology']],
  ['a slice was lost', () => view.setSlice('s', undefined), ['slices']],
  ['a slice is older', () => view.setSlice('s', { slice: aSlice('s', { version: 6 }), stamp: null }), ['slices']],
  [
    'a slice was left over',
    () => view.setSlice('t', { slice: aSlice('t', { version: 9 }), stamp: { epoch: 1, sequence: 1 } }),
    ['slices'],
  ],
  ['Endpoints were lost', () => view.set('endpoints', undefined), ['endpoints']],
])('%s', (_, harm, expected) => {
  harm();
  expect(compared(known)).toEqual(expected);
});

test.each<[string, () => void]>([
  [
    'a slice that the watcher has not come to',
    () => view.setSlice('t', { slice: aSlice('t', { version: 11 }), stamp: null }),
  ],
  ['a slice newer than the watcher’s', () => view.setSlice('s', { slice: aSlice('s', { version: 11 }), stamp: null })],
  [
    'a slice that Sluice has deleted',
    () => {
      view.rememberDeleted('uid-s');
      view.setSlice('s', undefined);
    },
  ],
  ['newer Endpoints', () => view.set('endpoints', { endpoints: someEndpoints({ version: 12 }), stamp: null })],
])('an Outcome may have told of %s', (_, told) => {
  told();
  expect(compared(known)).toEqual([]);
});

test('nothing is said of a view that is incomplete, or that has gone on, nor to a digest of another form', () => {
  view.removePod('p');
  const digest = digestFacts(known);
  expect(compared(known, { digest: { ...digest, form: 99 } })).toEqual([]);
  const older = aChange(++n, [], { resourceVersions, digest });
  fold(aChange(++n, []));
  expect(differences(view, older)).toEqual([]);
  view.set('snapshot', { ...view.snapshot, complete: false });
  expect(compared(known)).toEqual([]);
  expect(compared(known, { digest })).toEqual([]);
  view.set('snapshot', { ...view.snapshot, complete: true });
  expect(compared(known)).toEqual(['pods']);
});

test('a view without a snapshot waits for one, if there is anything to be told', () => {
  const change = (facts: readonly Fact[]) => aChange(++n, [], { resourceVersions, digest: digestFacts(facts) });
  expect(awaitsSnapshot(view, change(known))).toBe(false);
  view = new ServiceState(key);
  expect(awaitsSnapshot(view, change([]))).toBe(false);
  expect(awaitsSnapshot(view, aChange(++n, []))).toBe(false);
  expect(awaitsSnapshot(view, change(known))).toBe(true);
});
