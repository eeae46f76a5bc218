import { decodeMessage, encodeMessage, type PlannedMutations } from '@sluice/messages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loggedSettings, settingsOfPlan } from './reconcile.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { given } from './testing/given.ts';
import { aSnapshot, fact } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const snapshot = aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')]);
const planWith = (settings: Settings) => given(snapshot, { settings }).when().plan('endpointslice');
const sent = (plan: PlannedMutations) => decodeMessage(encodeMessage(plan)) as PlannedMutations;

test('a plan says nothing of default settings', () => {
  expect(planWith(defaultSettings).basis).not.toHaveProperty('settings');
  expect(loggedSettings({ ...defaultSettings, sliceWatchers: 5_000 })).toBeUndefined();
});

const ms = fc.integer({ min: 0, max: 100_000 });
const settings: fc.Arbitrary<Settings> = fc
  .record({
    maxEndpointsPerSlice: fc.integer({ min: 1, max: 1_000 }),
    maxEndpointsPerSubset: fc.constantFrom(1, 1_000),
    batchPeriodMs: fc.record({ endpoints: ms, endpointslice: ms, endpointslicemirroring: ms }),
    batching: fc.option(fc.record({ freshnessTargetMs: ms, watchers: fc.nat() })),
    backoff: fc.record({ baseMs: ms, maxMs: ms }),
    maxAttempts: fc.nat(100),
    parkedRetryMs: fc.option(ms),
    controllers: fc.constantFrom(new Set(['endpointslice'] as const), defaultSettings.controllers),
  })
  .map((some) => ({ ...defaultSettings, ...some }));

test('a plan that was sent says with which settings it was decided', () => {
  fc.assert(
    fc.property(settings, settings, (decided, base) => {
      expect(
        settingsOfPlan(sent(planWith({ ...decided, batchPeriodMs: defaultSettings.batchPeriodMs })), base),
      ).toEqual({
        ...decided,
        batchPeriodMs: defaultSettings.batchPeriodMs,
      });
      expect(loggedSettings(decided)?.batchPeriodMs).toEqual(decided.batchPeriodMs);
    }),
    { numRuns: 50 },
  );
});

test('a plan of a program that says nothing of its basis has the settings that are given', () => {
  const { basis, ...plan } = planWith({ ...defaultSettings, maxEndpointsPerSlice: 7 });
  const base = { ...defaultSettings, maxEndpointsPerSlice: 3 };
  expect(settingsOfPlan(plan, base)).toBe(base);
});
