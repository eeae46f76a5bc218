import type { Change, Fact } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { freeRepairs, type Repairs } from './controller-state.ts';
import { isDisposable } from './due.ts';
import { evolve } from './evolve.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, aSnapshot, fact } from './testing/messages.ts';
import { aController, aService } from './testing/objects.ts';

/** What a decision leaves in the state, and what it returns. */

const service: Fact = { kind: 'service', service: aService() };
const behind = { endpoints: '9', endpointslices: '9' };
const only = (...controllers: Controller[]) => ({
  settings: { ...defaultSettings, controllers: new Set(controllers) },
});

/** A Change that another one of the same batch follows. */
function beginningOfBatch(sequence: number, ...facts: Fact[]): Change {
  const { resourceVersions: _, ...change } = aChange(sequence, facts);
  return change;
}

describe('a deleted Service without Endpoints', () => {
  const deleted = (...controllers: Controller[]) =>
    given([aSnapshot(1, [service]), aChange(2, [fact.noService])], only(...controllers)).when().state;

  test('leaves nothing to delete once the Endpoints controller has decided', () => {
    expect(deleted('endpoints').orphaned).toBe(false);
  });

  test('may still leave Endpoints that are not known yet until then', () => {
    expect(deleted('endpointslice', 'endpointslicemirroring').orphaned).toBe(true);
  });
});

test('a deleted Service with Endpoints leaves them to be deleted until they are', () => {
  const history = given([aSnapshot(1, [service, fact.endpoints()]), aChange(2, [fact.noService])]).when();
  expect(history.thenPlans({ endpoints: ['delete'] }).state.orphaned).toBe(true);
  expect(history.applied().state.orphaned).toBe(false);
});

test('Endpoints that follow the deletion of their Service in the same batch are deleted too', () => {
  const first = beginningOfBatch(2, fact.noService);
  const half = given([aSnapshot(1, [service]), first])
    .when()
    .thenPlans({});
  expect(isDisposable(half.state, startTime)).toBe(false);
  half
    .and(aChange(3, [fact.endpoints()]))
    .when()
    .thenPlans({ endpoints: ['delete'] });
});

test('a batch whose rest was lost is not awaited', () => {
  const first = beginningOfBatch(2, fact.pod('p'));
  const { state } = given([aSnapshot(1, [service]), first]);
  expect(state.snapshot.partial).toBe(true);
  evolve(state, { kind: 'messagesLost' }, startTime, defaultSettings);
  expect(state.snapshot.partial).toBeUndefined();
});

test('a decision without plan returns what it counted', () => {
  const written = given(aSnapshot(1, [service, fact.pod('p')], behind), only('endpointslice'))
    .when()
    .applied();
  const { decisions, state } = written.and(aChange(2, [service])).when();
  const counts = { service: { endpoints: 1, slices: 1 } };
  expect(decisions).toMatchObject([{ kind: 'unchanged', controller: 'endpointslice', tracked: { counts } }]);
  expect(state.controller('endpointslice').trackers.counted).toMatchObject(counts.service);
});

describe('a plan that repairs', () => {
  /** The first plan after so many repairs that others have undone. */
  function planAfter(repairs: number, more: Partial<Repairs> = {}) {
    const history = given(aSnapshot(1, [service, fact.pod('p')], behind), only('endpointslice'));
    const { state } = history;
    const after = aController(
      { repairs: { repairing: true, count: repairs, ...more } },
      state.controller('endpointslice'),
    );
    state.setController('endpointslice', after);
    return history.when().plan('endpointslice');
  }

  test.each([
    [0, undefined],
    [freeRepairs - 2, undefined],
    [freeRepairs - 1, freeRepairs],
    [freeRepairs, freeRepairs + 1],
  ])('after %i others says how many there were in a row, if that is many: %s', (repairs, consecutive) => {
    expect(planAfter(repairs).consecutiveRepairs).toBe(consecutive);
  });

  test('says so at once if another client is proven to write', () => {
    const foreignWrites = { count: 1, slice: 's', at: startTime, unrepaired: true };
    expect(planAfter(0, { foreignWrites }).consecutiveRepairs).toBe(1);
    expect(planAfter(2, { foreignWrites }).consecutiveRepairs).toBe(3);
    expect(planAfter(0, { foreignWrites: { ...foreignWrites, unrepaired: false } })).not.toHaveProperty(
      'consecutiveRepairs',
    );
  });

  test('is the only one that says so', () => {
    expect(planAfter(freeRepairs + 1, { repairing: false })).not.toHaveProperty('consecutiveRepairs');
  });
});

test('a Change that is too large to publish parks every controller until the next one', () => {
  const parked = given([aSnapshot(1, [service, fact.pod('p')]), aChange(2, [], { unpublishable: 'too large' })]);
  parked
    .thenDueAt(null)
    .when(startTime + 1e9)
    .thenNothing();
  expect(parked.state.controller('endpoints').retries.parked).toBe('too large');
  parked
    .and(aChange(3, [fact.pod('q')]))
    .when()
    .thenPlans({ endpointslice: ['create'], endpoints: ['create'] });
});

test('a snapshot makes every controller decide, also if it contains nothing', () => {
  given(aSnapshot(1, [])).thenDueAt(startTime);
});
