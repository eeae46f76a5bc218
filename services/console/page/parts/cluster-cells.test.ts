import { expect, test } from 'vitest';
import type { LogicalServiceSummary, ServingState } from '../../src/view/schemas.ts';
import { cellsOf, presentStates, stateCountsText } from './cluster-cells.ts';

type Member = LogicalServiceSummary['clusters'][number];

const cluster = (name: string, lostSince: number | null = null) => ({
  cluster: `${name}-uid`,
  clusterName: name,
  lost: lostSince === null ? null : { since: lostSince, reason: 'not answering' as const },
});
const member = (name: string, state: ServingState, given: Partial<Member> = {}): Member => ({
  ...{
    cluster: `${name}-uid`,
    clusterName: name,
    name: 'cart',
    exists: true,
    isComplete: true,
    ageMs: null,
    lostReason: null,
  },
  ...{ counts: true, endpoints: { ready: 2, serving: 2, terminating: 0, all: 3 }, state, ...given },
});
const textIn = (state: ServingState, given: Partial<Member> = {}) =>
  cellsOf({ clusters: [member('west', state, given)] }, [cluster('west')])[0]?.text;

test('has a cell for each cluster in their order, also if it has no Service', () => {
  const clusters = [cluster('east'), cluster('north'), cluster('south', 0), cluster('west')];
  const cells = cellsOf({ clusters: [member('west', 'partly'), member('east', 'served')] }, clusters);
  expect(cells.map(({ clusterName, state }) => [clusterName, state])).toEqual([
    ['east', 'served'],
    ['north', 'missing'],
    ['south', 'lost'],
    ['west', 'partly'],
  ]);
});

test('adds the endpoints of Services of one cluster that are joined', () => {
  const clusters = [member('west', 'partly', { name: 'cart-blue' }), member('west', 'partly', { name: 'cart-green' })];
  const [cell] = cellsOf({ clusters }, [cluster('west')]);
  expect(cell).toMatchObject({ ready: 4, all: 6, text: '4/6 endpoints ready' });
});

test('tells a lost cluster from one without ready endpoints, and says whether it counts', () => {
  const endpoints = { ready: 0, serving: 0, terminating: 0, all: 3 };
  expect(textIn('none', { endpoints })).toBe('0/3 endpoints ready');
  const lostReason = 'not watched' as const;
  expect(textIn('lost', { ageMs: 240_000, lostReason })).toBe('not watched, 2/3 endpoints ready 4m ago; they count');
  expect(textIn('lost', { ageMs: 900_000, lostReason, counts: false })).toMatch(/15m ago; they do not count$/);
  expect(textIn('lost', { counts: false })).toMatch(/^counts as lost/);
  expect(cellsOf({ clusters: [] }, [cluster('west', 1)])[0]?.text).toBe('lost, nothing is known of it');
});

test('says why there are no numbers', () => {
  expect(cellsOf({ clusters: [] }, [cluster('west')])[0]?.text).toBe('does not exist');
  expect(textIn('missing', { exists: false })).toBe('does not exist, but slices of it do');
  expect(textIn('noneExpected')).toBe('no endpoint is expected');
  expect(textIn('unknown', { isComplete: false })).toBe('2/3 endpoints ready, not all is known yet');
});

test('counts clusters by state, the worst first', () => {
  const counts = { served: 98, none: 2, partly: 0 };
  expect(presentStates(counts)).toEqual([
    ['none', 2],
    ['served', 98],
  ]);
  expect(stateCountsText(counts)).toBe('2 no ready endpoint · 98 served');
});
