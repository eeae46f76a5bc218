import type { Fact } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import { initialControllerState } from './controller-state.ts';
import { evolve } from './evolve.ts';
import { jitterOf, park, retryAt } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const now = 1_000_000;
const backoff = { baseMs: 50, maxMs: 30_000 };

test('the first conflict is retried at once (B3)', () => {
  expect(retryAt({ state: initialControllerState, now }, 'conflict', backoff, 0.5)).toBe(now);
});

test('other delays grow, with jitter, up to the maximum (B3)', () => {
  for (const jitter of [0, 0.5, 1]) {
    const delays = Array.from({ length: 15 }, (_, failures) => {
      return (
        retryAt(
          { state: { ...initialControllerState, retries: { ...initialControllerState.retries, failures } }, now },
          'unavailable',
          backoff,
          jitter,
        ) - now
      );
    });
    expect(delays[0]).toBe((backoff.baseMs / 2) * (1 + jitter));
    expect(delays[14]).toBe((backoff.maxMs / 2) * (1 + jitter));
  }
});

test('jitter spreads plans evenly between 0 and 1, and is the same for the same plan', () => {
  const jitter = (number: number) => jitterOf({ key, controller: 'endpoints', plan: { epoch: 1, number } });
  const values = Array.from({ length: 1_000 }, (_, number) => jitter(number));
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  expect(values.filter((value) => value < 0.5).length / values.length).toBeCloseTo(0.5, 1);
  expect(jitter(7)).toBe(values[7]);
});

const service: Fact = { kind: 'service', service: aService() };
const inFlight = () => given(aSnapshot(1, [service, fact.pod('p')])).when();
const release = { kind: 'release', key, releasedAt: startTime } as const;

const withdraw = (state: ServiceState, reason: string, settings = defaultSettings) =>
  evolve(state, { kind: 'parked', controller: 'endpointslice', reason }, startTime, settings);

describe('a plan that nobody has received', () => {
  test('is not in flight any more, and is decided again later', () => {
    const history = inFlight();
    withdraw(history.state, 'too large');
    expect(history.state.controller('endpointslice')).toMatchObject({
      inFlight: null,
      retries: { parked: 'too large', parkedSince: startTime },
      timers: { dueAt: startTime + 60_000 },
    });
    expect(history.state.controller('endpoints').retries.parked).toBeNull();
    // Redelivered: it is still in flight.
    history.when(startTime + 59_999).thenPlans({ endpoints: ['create'] });
    history.when(startTime + 60_000).thenPlans({ endpointslice: ['create'] });
  });

  test('is decided again only when something changes if parked keys are not retried', () => {
    const history = inFlight();
    withdraw(history.state, 'too large', { ...defaultSettings, parkedRetryMs: null });
    expect(history.state.controller('endpointslice').timers.dueAt).toBeNull();
    history.and(aChange(2, [fact.pod('q')]));
    expect(history.state.controller('endpointslice')).toMatchObject({
      retries: { parked: null },
      timers: { dueAt: startTime },
    });
  });
});

describe('a parked controller', () => {
  test('keeps its plan in flight, and the time since when it is parked', () => {
    const { state } = inFlight();
    const { inFlight: plan } = state.controller('endpointslice');
    const first = park(state.controller('endpointslice'), 'first', startTime + 1, null);
    expect(park(first, 'second', startTime + 2, startTime + 3)).toMatchObject({
      inFlight: plan,
      retries: { parked: 'second', parkedSince: startTime + 1 },
      timers: { dueAt: startTime + 3 },
    });
  });

  test('decides at once when an operator releases it, and its plan is marked', () => {
    const history = inFlight();
    for (const controller of ['endpointslice', 'endpoints'] as const)
      evolve(history.state, { kind: 'parked', controller, reason: 'too many removals' }, startTime, defaultSettings);
    const released = history.and(release, startTime + 5).when();
    const plan = released.thenPlans({ endpointslice: ['create'], endpoints: ['create'] }).plan('endpointslice');
    expect(plan.ready).toMatchObject({ released: true });
    const observedAt = startTime;
    expect(plan.causes.first.at(-1)).toEqual({ description: expect.stringContaining('operator'), observedAt });
    expect(released.state.controller('endpointslice').requests.released).toBeUndefined();
  });
});

test('a release changes nothing of a controller that is not parked', () => {
  const history = inFlight();
  history.state.drainChanges();
  history.and(release, startTime + 5);
  expect(history.state.controller('endpointslice').requests.released).toBeUndefined();
  expect(history.state.controller('endpointslice').timers.dueAt).toBeNull();
});
