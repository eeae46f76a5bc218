import { watcherFound, watcherStarted } from '@sluice/messages';
import { type ControllerState, initialControllerState } from '@sluice/service-state';
import { describe, expect, test } from 'vitest';
import { anOutcome, aPlan } from '../testing/records.ts';
import { type CompletedPlan, heldBy, holdAt, timeSpent } from './held-by.ts';

/** All times are after the first cause, which is observed at this time. */
const zero = 100_000;

const causedBy = (description: string, observedAt = zero) => ({ first: [{ description, observedAt }], more: 0 });
const causes = causedBy('Pod shop/web-1 modified');

interface Before {
  readonly timers?: Partial<ControllerState['timers']>;
  readonly retries?: Partial<ControllerState['retries']>;
  readonly repairs?: Partial<ControllerState['repairs']>;
}

function stateOf(before: Before): ControllerState {
  const { timers, retries, repairs } = initialControllerState;
  return {
    ...initialControllerState,
    timers: { ...timers, dueAt: zero, ...before.timers },
    retries: { ...retries, ...before.retries },
    repairs: { ...repairs, ...before.repairs },
  };
}

/** What held a plan that is decided at `decidedAt`. */
function held(decidedAt: number, before: Before, given: { last?: CompletedPlan; batchPeriodMs?: number } = {}) {
  const plan = { ...aPlan(2, zero + decidedAt, []), causes };
  return heldBy(plan, stateOf(before), given.last, given.batchPeriodMs ?? 0);
}

const lastPlan = (completedAt: number, given: Partial<CompletedPlan> = {}): CompletedPlan => ({
  ...{
    plan: { epoch: 1, number: 1 },
    status: 'applied',
    causes: causedBy('Pod shop/web-2 modified', zero - 90),
    held: [],
  },
  ...{ decidedAt: zero - 50, completedAt: zero + completedAt },
  ...given,
});

describe('a decision waits for', () => {
  test('the batch period', () => {
    expect(held(2_000, { timers: { dueAt: zero + 2_000 } }, { batchPeriodMs: 2_000 })).toEqual([
      { where: 'batch period', ms: 2_000 },
    ]);
  });

  test('the plan in flight, and the write cooldown after it', () => {
    const before = { timers: { cooldownUntil: zero + 375 } };
    expect(held(376, before, { last: lastPlan(300) })).toEqual([
      { where: 'plan in flight', ms: 300 },
      { where: 'write cooldown', ms: 75 },
      { where: 'watcher to reconciler', ms: 1 },
    ]);
  });

  test('a plan in flight only once the batch period has ended', () => {
    const before = { timers: { dueAt: zero + 500 } };
    expect(held(800, before, { last: lastPlan(800), batchPeriodMs: 500 })).toEqual([
      { where: 'batch period', ms: 500 },
      { where: 'plan in flight', ms: 300 },
    ]);
  });

  test.each([
    [{ until: zero + 700, maxWaitMs: 5_000 }, 700],
    [{ until: zero + 9_000, maxWaitMs: 400 }, 400],
  ])('adaptive batching, at most as long as a change may wait: %o', (given, ms) => {
    const batch = { appliedAt: zero, changesPerMs: 1, writeMs: 5, ...given };
    const before = { timers: { cooldownUntil: zero + 75, batch } };
    expect(held(ms, before)).toEqual([{ where: 'adaptive batching', ms }]);
  });

  test('the interval between repairs', () => {
    const before = { timers: { dueAt: zero + 1_000 }, repairs: { repairing: true, repairAt: zero + 1_000, count: 1 } };
    expect(held(1_000, before)).toEqual([{ where: 'repair interval', ms: 1_000 }]);
  });

  test('the pace of hint updates', () => {
    const before = { timers: { dueAt: null, topologyDueAt: zero + 40_000 } };
    expect(held(40_000, before)).toEqual([{ where: 'hint pacing', ms: 40_000 }]);
  });

  test('its way from the watcher to the reconciler, if nothing else held it', () => {
    expect(held(5_000, { timers: { cooldownUntil: zero - 1 } }, { last: lastPlan(-10) })).toEqual([
      { where: 'watcher to reconciler', ms: 5_000 },
    ]);
  });

  test('the same, if the state before is not known', () => {
    expect(held(5_000, { timers: { dueAt: null } })).toEqual([{ where: 'watcher to reconciler', ms: 5_000 }]);
  });
});

describe('after a failed plan with the same causes', () => {
  const failed = lastPlan(900, { decidedAt: zero + 500, causes, held: [{ where: 'batch period', ms: 500 }] });

  test('a decision waits for the retry, besides what held the failed plan', () => {
    const before = { timers: { dueAt: zero + 1_500 }, retries: { failures: 3 } };
    expect(held(1_600, before, { last: failed, batchPeriodMs: 500 })).toEqual([
      { where: 'batch period', ms: 500 },
      { where: 'retry', ms: 1_000 },
      { where: 'watcher to reconciler', ms: 100 },
    ]);
  });

  test('all retries count together', () => {
    const before = { timers: { dueAt: zero + 1_500 }, retries: { failures: 4 } };
    const last = { ...failed, held: [{ where: 'retry', ms: 500 } as const] };
    expect(held(1_500, before, { last })).toEqual([{ where: 'retry', ms: 1_500 }]);
  });

  test('a parked key counts as one', () => {
    const before = { timers: { dueAt: zero + 60_000 }, retries: { failures: 0, parkedSince: zero + 900 } };
    expect(held(60_000, before, { last: failed })).toEqual([...failed.held, { where: 'retry', ms: 59_500 }]);
  });

  test('a decision that was requested anyway waits for the retry, although the state says nothing of the failure', () => {
    const last = { ...failed, status: 'rejected' } as const;
    expect(held(1_000, { timers: { dueAt: zero + 1_000 } }, { last, batchPeriodMs: 400 })).toEqual([
      ...failed.held,
      { where: 'retry', ms: 500 },
    ]);
  });

  test('the mass-change guard is named', () => {
    const before = { timers: { dueAt: zero + 1_500 }, retries: { failures: 1, heldBack: true } };
    expect(held(1_500, before, { last: { ...failed, held: [] } })).toEqual([{ where: 'mass-change guard', ms: 1_000 }]);
  });
});

describe('the next decision is held', () => {
  const batch = { until: 900, appliedAt: 0, maxWaitMs: 5_000, changesPerMs: 1, writeMs: 5 };

  test.each<[string, number, Before]>([
    ['batch period', 600, { timers: { dueAt: 600, delayedUntil: 600 } }],
    ['write cooldown', 700, { timers: { dueAt: 0, cooldownUntil: 700 } }],
    ['adaptive batching', 900, { timers: { dueAt: 0, batch } }],
    ['retry', 800, { timers: { dueAt: 800 }, retries: { failures: 1 } }],
    ['repair interval', 800, { timers: { dueAt: 800 }, repairs: { repairing: true } }],
  ])('by the %s', (where, until, before) => {
    expect(holdAt(stateOf(before), 500)).toEqual({ where, until });
    expect(holdAt(stateOf(before), until)).toBeUndefined();
  });

  test('by nothing if none is requested', () => {
    expect(holdAt(stateOf({ timers: { dueAt: null, cooldownUntil: 700 } }), 500)).toBeUndefined();
  });
});

describe('a write', () => {
  const before = [{ where: 'batch period', ms: 1_800 } as const];
  const outcome = { ...anOutcome(2, zero + 1_900, zero, [{ verb: 'update', version: '2' }]), decidedAt: zero + 1_800 };

  test('waits in the writer until its first request, then for the API server', () => {
    expect(timeSpent({ ...outcome, startedAt: zero + 1_840 }, before)).toEqual([
      ...before,
      { where: 'writer queue', ms: 40 },
      { where: 'API server', ms: 60 },
    ]);
  });

  test('of a former version does not say when its first request was sent', () => {
    expect(timeSpent(outcome, before)).toEqual([...before, { where: 'writer queue and API server', ms: 100 }]);
  });

  test('that was never sent waited in the writer', () => {
    expect(timeSpent({ ...outcome, results: [] }, before)).toEqual([...before, { where: 'writer queue', ms: 100 }]);
  });

  test('with clocks that differ counts no time below zero', () => {
    const times = { startedAt: zero + 1_700, decidedAt: zero - 500 };
    expect(timeSpent({ ...outcome, ...times }, [])).toEqual([
      { where: 'writer queue', ms: 1_700 },
      { where: 'API server', ms: 200 },
    ]);
  });

  test.each([
    ['is fast', { ...outcome, completedAt: zero + 100 }],
    ['has no cause', { ...outcome, causes: { first: [], more: 0 } }],
    ['belongs to the initial list of a watcher', { ...outcome, causes: causedBy(watcherStarted) }],
    [
      'belongs to the list of a watcher that found Pods gone',
      { ...outcome, causes: causedBy(watcherFound(['web-1'])) },
    ],
  ])('that %s says nothing', (_, one) => {
    expect(timeSpent(one, before)).toBeUndefined();
  });
});
