import { expect, test } from 'vitest';
import { clampDeadlines } from './clamp-deadlines.ts';
import { type ControllerState, initialControllerState } from './controller-state.ts';
import { nextDueAt } from './due.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';

const now = 1_000_000_000;
const hour = 3_600_000;
const key = { cluster: 'c', namespace: 'shop', service: 'web' };

function clamped(given: Partial<ControllerState>): ControllerState {
  const state = new ServiceState(key);
  state.setController('endpointslice', { ...initialControllerState, ...given });
  clampDeadlines(state, now, defaultSettings);
  return state.controller('endpointslice');
}

const inFlight = (redeliverAt: number, redeliveries: number) =>
  ({ inFlight: { message: {}, redeliverAt, redeliveries } }) as unknown as Partial<ControllerState>;

test.each<[string, Partial<ControllerState>, Partial<ControllerState>]>([
  ['a decision', { dueAt: now + hour }, { dueAt: now }],
  ['a retry', { dueAt: now + hour, delayedUntil: now + hour, failures: 3 }, { dueAt: now + 30_000 }],
  [
    'a retry that the limit of retries delays',
    { dueAt: now + hour, delayedUntil: now + hour, failures: 3, retryAfterMs: 90_000 },
    { dueAt: now + 90_000 },
  ],
  ['a repair', { dueAt: now + hour, repairAt: now + hour, repairing: true }, { repairAt: now + 1_000 }],
  [
    'a repair after many others',
    { dueAt: now + hour, repairAt: now + hour, repairing: true, repairs: 20 },
    { dueAt: now + 60_000, repairAt: now + 60_000 },
  ],
  ['a decision about zone ratios', { topologyDueAt: now + hour }, { topologyDueAt: now + 300_000 }],
  ['a parked key', { dueAt: now + hour, parked: 'forbidden' }, { dueAt: now + 120_000 }],
  ['a cooldown', { cooldownUntil: now + hour }, { cooldownUntil: now + 2_000 }],
  ['the end of a delay', { delayedUntil: now + hour }, { delayedUntil: now }],
  ['a repair that nothing else waits for', { repairAt: now + hour }, { repairAt: now + 1_000 }],
])('%s from a clock that is an hour ahead is not further away than its longest delay', (_, given, expected) => {
  expect(clamped(given)).toMatchObject(expected);
});

const batch = { until: now + 10_000, maxWaitMs: 400, appliedAt: now, changesPerMs: 0.5, writeMs: 5 };

test('a batch of a right clock stays', () => {
  expect(clamped({ batch }).batch).toBe(batch);
});

test.each([
  ['ends too late', { until: now + 10_001 }],
  ['follows a plan that was applied in the future', { appliedAt: now + 1 }],
])('a batch that %s is dropped', (_, given) => {
  expect(clamped({ batch: { ...batch, ...given }, failures: 2 })).toMatchObject({ batch: undefined, failures: 2 });
});

test('a redelivery is not further away than its backoff', () => {
  expect(clamped(inFlight(now + hour, 0)).inFlight?.redeliverAt).toBe(now + 5_000);
  expect(clamped(inFlight(now + hour, 3)).inFlight?.redeliverAt).toBe(now + 40_000);
});

test('deadlines of a right clock stay, and nothing is stored', () => {
  const state = new ServiceState(key);
  const given = {
    ...initialControllerState,
    dueAt: now - 5,
    topologyDueAt: now + 60_000,
    failures: 2,
    delayedUntil: now + 100,
    cooldownUntil: now + 50,
  };
  state.setController('endpointslice', given);
  state.drainChanges();
  clampDeadlines(state, now, defaultSettings);
  expect(state.drainChanges()).toEqual([]);
  expect(nextDueAt(state)).toBeNull();
});
