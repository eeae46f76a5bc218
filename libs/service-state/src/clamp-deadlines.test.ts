import { expect, test } from 'vitest';
import { clampDeadlines } from './clamp-deadlines.ts';
import type { ControllerState } from './controller-state.ts';
import { nextDueAt } from './due.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aController, type GivenParts } from './testing/objects.ts';

const now = 1_000_000_000;
const hour = 3_600_000;
const key = { cluster: 'c', namespace: 'shop', service: 'web' };

function clamped(given: GivenParts): ControllerState {
  const state = new ServiceState(key);
  state.setController('endpointslice', aController(given));
  clampDeadlines(state, now, defaultSettings);
  return state.controller('endpointslice');
}

const inFlight = (redeliverAt: number, redeliveries: number) =>
  ({ inFlight: { message: {}, redeliverAt, redeliveries } }) as unknown as GivenParts;

test.each<[string, GivenParts, GivenParts]>([
  ['a decision', { timers: { dueAt: now + hour } }, { timers: { dueAt: now } }],
  [
    'a retry',
    { timers: { dueAt: now + hour, delayedUntil: now + hour }, retries: { failures: 3 } },
    { timers: { dueAt: now + 30_000 } },
  ],
  [
    'a retry that the limit of retries delays',
    { timers: { dueAt: now + hour, delayedUntil: now + hour }, retries: { failures: 3, retryAfterMs: 90_000 } },
    { timers: { dueAt: now + 90_000 } },
  ],
  [
    'a repair',
    { timers: { dueAt: now + hour }, repairs: { repairAt: now + hour, repairing: true } },
    { repairs: { repairAt: now + 1_000 } },
  ],
  [
    'a repair after many others',
    { timers: { dueAt: now + hour }, repairs: { repairAt: now + hour, repairing: true, count: 20 } },
    { timers: { dueAt: now + 60_000 }, repairs: { repairAt: now + 60_000 } },
  ],
  [
    'a decision about zone ratios',
    { timers: { topologyDueAt: now + hour } },
    { timers: { topologyDueAt: now + 300_000 } },
  ],
  [
    'a parked key',
    { timers: { dueAt: now + hour }, retries: { parked: 'forbidden' } },
    { timers: { dueAt: now + 120_000 } },
  ],
  ['a cooldown', { timers: { cooldownUntil: now + hour } }, { timers: { cooldownUntil: now + 2_000 } }],
  ['the end of a delay', { timers: { delayedUntil: now + hour } }, { timers: { delayedUntil: now } }],
  [
    'a repair that nothing else waits for',
    { repairs: { repairAt: now + hour } },
    { repairs: { repairAt: now + 1_000 } },
  ],
])('%s from a clock that is an hour ahead is not further away than its longest delay', (_, given, expected) => {
  expect(clamped(given)).toMatchObject(expected);
});

const batch = { until: now + 10_000, maxWaitMs: 400, appliedAt: now, changesPerMs: 0.5, writeMs: 5 };

test('a batch of a right clock stays', () => {
  expect(clamped({ timers: { batch } }).timers.batch).toBe(batch);
});

test.each([
  ['ends too late', { until: now + 10_001 }],
  ['follows a plan that was applied in the future', { appliedAt: now + 1 }],
])('a batch that %s is dropped', (_, given) => {
  expect(clamped({ timers: { batch: { ...batch, ...given } }, retries: { failures: 2 } })).toMatchObject({
    timers: { batch: undefined },
    retries: { failures: 2 },
  });
});

test('a redelivery is not further away than its backoff', () => {
  expect(clamped(inFlight(now + hour, 0)).inFlight?.redeliverAt).toBe(now + 5_000);
  expect(clamped(inFlight(now + hour, 3)).inFlight?.redeliverAt).toBe(now + 40_000);
});

test('deadlines of a right clock stay, and nothing is stored', () => {
  const state = new ServiceState(key);
  const given = aController({
    timers: { dueAt: now - 5, topologyDueAt: now + 60_000, delayedUntil: now + 100, cooldownUntil: now + 50 },
    retries: { failures: 2 },
  });
  state.setController('endpointslice', given);
  state.drainChanges();
  clampDeadlines(state, now, defaultSettings);
  expect(state.drainChanges()).toEqual([]);
  expect(nextDueAt(state, now)).toBeNull();
});
