import type { PlannedMutations, ServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { expect, test } from 'vitest';
import { DiffTracker, type PendingDiff } from './diff-tracker.ts';
import { aPlan } from './testing/plans.ts';

const key: ServiceKey = { cluster: 'c', namespace: 'shop', service: 'web' };
const slices: Controller = 'endpointslice';

function tracker() {
  const resolved: [PendingDiff<string>, number | null][] = [];
  return { tracker: new DiffTracker<string>((...args) => resolved.push(args)), resolved };
}

const onlyPending = <F>(of: DiffTracker<F>): PendingDiff<F> => {
  const [pending, ...more] = of.pending;
  if (pending === undefined || more.length > 0) throw new Error(`${more.length + (pending ? 1 : 0)} are pending`);
  return pending;
};

const plan = (addresses: readonly string[], number = 1): PlannedMutations => aPlan({ key, addresses, number });

test('Sluice leads by the time from its decision to the write after which it needs none', () => {
  const { tracker: shadow, resolved } = tracker();
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_000);
  shadow.wrote(key, slices, 1_020);
  shadow.decided(key, slices, undefined, 1_021);
  expect(shadow.sooner.percentiles).toEqual({ count: 1, p50: 20, p99: 20, max: 20 });
  expect(shadow.later.percentiles).toBeNull();
  expect(resolved).toMatchObject([[{ key, since: 1_000 }, 20]]);
  expect([...shadow.pending]).toEqual([]);
});

test('the lead counts from the decision that the write matches, not from an earlier one', () => {
  const { tracker: shadow } = tracker();
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_000);
  shadow.decided(key, slices, plan(['10.0.0.2'], 2), 5_000);
  shadow.wrote(key, slices, 5_010);
  shadow.decided(key, slices, undefined, 5_011);
  expect(shadow.sooner.percentiles?.max).toBe(10);
});

test('the same plan with another number is the same decision', () => {
  const { tracker: shadow } = tracker();
  shadow.decided(key, slices, plan(['10.0.0.1'], 1), 1_000);
  onlyPending(shadow).finding = 'looked at';
  shadow.decided(key, slices, plan(['10.0.0.1'], 2), 9_000);
  expect(onlyPending(shadow)).toMatchObject({ since: 1_000, finding: 'looked at' });
});

test('Sluice lags if the upstream controller wrote first and no write is needed', () => {
  const { tracker: shadow } = tracker();
  shadow.decided(key, slices, undefined, 500);
  shadow.wrote(key, slices, 1_000);
  shadow.decided(key, slices, undefined, 1_003);
  expect(shadow.later.percentiles?.max).toBe(3);
  shadow.decided(key, slices, undefined, 2_000);
  expect(shadow.later.percentiles?.count).toBe(1);
});

test('a decision that is undone before any write is withdrawn', () => {
  const { tracker: shadow, resolved } = tracker();
  shadow.wrote(key, slices, 900);
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_000);
  shadow.decided(key, slices, undefined, 1_100);
  expect(shadow.withdrawn).toBe(1);
  expect(shadow.sooner.percentiles).toBeNull();
  expect(resolved).toMatchObject([[{}, null]]);
});

test('a plan without writes, such as one with Events only, needs no write', () => {
  const { tracker: shadow } = tracker();
  shadow.decided(key, slices, { ...plan([]), groups: [] }, 1_000);
  expect([...shadow.pending]).toEqual([]);
});

test('the controllers of a Service are tracked separately', () => {
  const { tracker: shadow } = tracker();
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_000);
  shadow.decided(key, 'endpoints', undefined, 1_000);
  expect(onlyPending(shadow).controller).toBe(slices);
});

test('a change that the upstream handlers ignore explains a plan, unless they queued the Service later', () => {
  const { tracker: shadow } = tracker();
  shadow.noticed(key, slices, 1_000);
  shadow.overlooked(key, slices, 5_000);
  shadow.decided(key, slices, plan(['10.0.0.1']), 5_001);
  expect(onlyPending(shadow).overlooked).toBe(true);
  shadow.noticed(key, slices, 9_000);
  shadow.decided(key, slices, plan(['10.0.0.1']), 9_001);
  expect(onlyPending(shadow).overlooked).toBe(false);
});

test('a plan without an ignored change is not explained', () => {
  const { tracker: shadow } = tracker();
  shadow.noticed(key, slices, 1_000);
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_001);
  expect(onlyPending(shadow).overlooked).toBe(false);
});

test('a write of the upstream controller is not an ignored edit; a write without a cause is', () => {
  const { tracker: shadow } = tracker();
  shadow.noticed(key, 'endpoints', 1_000);
  shadow.decided(key, 'endpoints', plan(['10.0.0.1']), 1_001);
  shadow.edited(key, 'endpoints', 9_000);
  shadow.decided(key, 'endpoints', plan(['10.0.0.2']), 9_001);
  expect(onlyPending(shadow).overlooked).toBe(false);
  shadow.decided(key, 'endpoints', undefined, 10_000);
  shadow.edited(key, 'endpoints', 20_000);
  shadow.decided(key, 'endpoints', plan(['10.0.0.2']), 20_001);
  expect(onlyPending(shadow).overlooked).toBe(true);
});

test('counts Services while they exist, and drops deleted ones without pending plans', () => {
  const { tracker: shadow } = tracker();
  shadow.exists(key, true);
  shadow.decided(key, slices, plan(['10.0.0.1']), 1_000);
  expect(shadow.services).toBe(1);
  shadow.exists(key, false);
  shadow.prune();
  expect(shadow.services).toBe(0);
  expect(onlyPending(shadow).key).toEqual(key);
  shadow.discard(onlyPending(shadow));
  expect([...shadow.pending]).toEqual([]);
});
