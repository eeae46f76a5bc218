import type { ReadyEndpointsDelta } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { aPlan } from '../testing/plans.ts';
import { MassChangeGuard, type MassChangeGuardOptions } from './mass-change-guard.ts';

let clock: VirtualClock;
let guard: MassChangeGuard;

const newGuard = (given: Partial<MassChangeGuardOptions> = {}) =>
  new MassChangeGuard('addition', { percent: 25, clock, ...given });
/** `count` new addresses. */
const requires = (count: number, ready: Partial<ReadyEndpointsDelta> = {}, partition = 0) => {
  const added = { count, evidence: [] };
  const delta: ReadyEndpointsDelta = { delta: 0, total: 1_000, ...(count > 0 && { added }), ...ready };
  return guard.requiresConfirmation(aPlan([], { ready: delta }), partition);
};
const wait = (ms: number) => {
  const until = clock.now() + ms;
  while (clock.step(until));
};

beforeEach(() => {
  clock = new VirtualClock(1_000);
  guard = newGuard();
});

test('requires confirmation once a share of the addresses was replaced within a minute', () => {
  expect(requires(150)).toBe(false);
  expect(requires(100)).toBe(false);
  expect(requires(1)).toBe(true);
  wait(61_000);
  expect(requires(100)).toBe(false);
});

test('requires confirmation of a scale-up beyond the share', () => {
  expect(requires(100, { delta: 100 })).toBe(false);
  expect(requires(900, { delta: 900, total: 1_100 })).toBe(true);
});

test('lets a new cluster fill unchecked', () => {
  for (let total = 0; total < 10_000; total += 100) expect(requires(100, { delta: 100, total })).toBe(false);
});

test('ignores plans that add no address', () => {
  requires(900);
  expect(requires(0, { delta: -500 })).toBe(false);
  expect(requires(0, { delta: 500, repeated: true })).toBe(false);
  expect(guard.requiresConfirmation(aPlan([]), 0)).toBe(false);
});

test('counts all partitions of the process together, and controllers separately', () => {
  for (const partition of [1, 2, 3]) requires(0, { delta: -1 }, partition);
  expect(requires(900)).toBe(false);
  expect(requires(150, {}, 1)).toBe(true);
  const ready = { delta: 0, total: 1_000, added: { count: 200, evidence: [] } };
  expect(guard.requiresConfirmation(aPlan([], { controller: 'endpoints', ready }), 0)).toBe(false);
});

test('allows a few unconfirmed, and fewer in a process that owns few partitions', () => {
  expect(requires(20, { total: 40 })).toBe(false);
  guard = newGuard({ partitionShare: () => 1 / 8 });
  expect(requires(2, { total: 5 })).toBe(false);
  expect(requires(1, { total: 5 })).toBe(true);
});

test('always confirms a retried plan, and counts it once', () => {
  for (let i = 0; i < 100; i++) expect(requires(10, { repeated: true })).toBe(true);
  expect(requires(200)).toBe(false);
});

test('lets a released plan pass, and is off at 100 percent', () => {
  expect(requires(900, { repeated: true, released: true })).toBe(false);
  guard = newGuard({ percent: 100 });
  expect(requires(1_000, { repeated: true })).toBe(false);
});

test('after many confirmations it samples one plan in ten, until a check fails', () => {
  const checkedPlans = (plans: number) => {
    let checks = 0;
    for (let i = 0; i < plans; i++) {
      if (!requires(300)) continue;
      checks += 1;
      guard.recordCheck('confirmed', '');
    }
    return checks;
  };
  expect(checkedPlans(120)).toBe(30);
  guard.recordCheck('refuted', '');
  expect(checkedPlans(120)).toBe(30);
});
