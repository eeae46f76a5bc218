import type { Change, Fact, Outcome, PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { decide as decideFor, planOf } from './decide.ts';
import { proofOfRestore } from './divergence.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings as settings } from './settings.ts';
import { aChange, allApplied, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

let state: ServiceState;
let now: number;
let sequence: number;
let plans: number;
let name: string;

/** The EndpointSlice controller has written its slice in version 50 and generation 1, and the watch has delivered it. */
beforeEach(() => {
  [now, sequence, plans] = [1_000_000, 0, 0];
  state = new ServiceState(key);
  const service: Fact = { kind: 'service', service: aService() };
  receive(aSnapshot(++sequence, [service, fact.pod('p')], { endpointslices: '9', initial: true }));
  const plan = decide();
  name = plan.groups[0]?.mutations[0]?.verb === 'create' ? plan.groups[0].mutations[0].object.metadata.name : '';
  complete(plan);
  receive(aChange(++sequence, [version(50, 1)]));
});

function receive(change: Change): void {
  now += 10;
  evolve(state, change, now, settings);
}

function decide(controller: Controller = 'endpointslice'): PlannedMutations {
  now += 10_000;
  const decision = decideFor(state, controller, now, { settings, nextPlan: { epoch: 1, number: ++plans } });
  const plan = planOf(decision);
  if (decision === null || plan === undefined) throw new Error('nothing to write');
  evolve(state, decision, now, settings);
  return plan;
}

/** The Outcome of the plan; everything was stored in this version and generation unless given otherwise. */
function complete(plan: PlannedMutations, at = 50, generation = 1, given: Partial<Outcome> = {}): void {
  const results = allApplied(plan, at).map((result) =>
    result.stored === undefined ? result : { ...result, stored: { ...result.stored, generation } },
  );
  now += 10;
  evolve(state, anOutcome(plan, { results, ...given }), now, settings);
}

/** The slice as the watch delivers it: another version has other content. */
function version(resourceVersion: number, generation: number, metadata: object = {}): Fact {
  const slice = state.slices.get(name)?.slice;
  if (slice === undefined) throw new Error(`no slice ${name}`);
  const observed = { ...slice.metadata, resourceVersion: `${resourceVersion}`, generation, ...metadata };
  const endpoints = slice.metadata.resourceVersion === observed.resourceVersion ? (slice.endpoints ?? []) : [];
  return { kind: 'slice', name, slice: { ...slice, endpoints, metadata: observed }, uid: observed.uid ?? '' };
}

const update = () => {
  receive(aChange(++sequence, [fact.pod(`q${sequence}`)]));
  return decide();
};
const foreignWrites = () => state.controller('endpointslice').repairs.foreignWrites;

describe('a generation that rises without an Outcome (C19)', () => {
  test('proves a foreign write, and the repair names the first one already', () => {
    receive(aChange(++sequence, [version(60, 2)]));
    expect(foreignWrites()).toMatchObject({ count: 1, slice: name, unrepaired: true });
    expect(decide()).toMatchObject({ consecutiveRepairs: 1 });
    expect(foreignWrites()).toMatchObject({ count: 1, unrepaired: false });
  });

  test('is counted once, however often the slice is delivered or relabelled after it', () => {
    receive(aChange(++sequence, [version(60, 2)]));
    receive(aChange(++sequence, [version(61, 2)]));
    receive(aSnapshot(++sequence, [{ kind: 'service', service: aService() }, version(61, 2)]));
    expect(foreignWrites()?.count).toBe(1);
    receive(aChange(++sequence, [version(62, 3)]));
    expect(foreignWrites()?.count).toBe(2);
  });

  test('proves one also if the watch delivers it before the Outcome of our own write', () => {
    const plan = update();
    receive(aChange(++sequence, [version(60, 2)]));
    receive(aChange(++sequence, [version(61, 3)]));
    expect(foreignWrites()).toBeUndefined();
    complete(plan, 60, 2);
    expect(foreignWrites()?.count).toBe(1);
  });

  test('proves one also after another watcher has started', () => {
    receive(aSnapshot([2, 1], [{ kind: 'service', service: aService() }, version(50, 1)], { initial: true }));
    receive(aChange([2, 2], [version(60, 2)]));
    expect(foreignWrites()?.count).toBe(1);
  });

  test('proves one to a slice that was adopted without a write', () => {
    const adopting = new ServiceState(key);
    const { slice } = state.slices.get(name) ?? {};
    const facts: Fact[] = [{ kind: 'service', service: aService() }, fact.pod('p')];
    if (slice !== undefined) facts.push({ kind: 'slice', name, slice, uid: slice.metadata.uid ?? '' });
    evolve(adopting, aSnapshot(1, facts, { initial: true }), now, settings);
    const inputs = { settings, nextPlan: { epoch: 1, number: 1 } };
    const decision = decideFor(adopting, 'endpointslice', now, inputs);
    if (decision?.kind !== 'unchanged') return expect.unreachable(decision?.kind);
    evolve(adopting, decision, now, settings);
    evolve(adopting, aChange(2, [version(60, 2)]), now, settings);
    expect(adopting.controller('endpointslice').repairs.foreignWrites?.count).toBe(1);
  });
});

describe('no foreign write is', () => {
  test('our own write, delivered before its Outcome', () => {
    const plan = update();
    receive(aChange(++sequence, [version(60, 2)]));
    complete(plan, 60, 2);
    expect(foreignWrites()).toBeUndefined();
  });

  test.each(['unavailable', 'conflict'] as const)('a write that was stored although its Outcome is %s', (status) => {
    complete(update(), 0, 0, { status, results: [] });
    receive(aChange(++sequence, [version(60, 2)]));
    expect(foreignWrites()).toBeUndefined();
    // The next one is, because the generation is known again.
    receive(aChange(++sequence, [version(61, 3)]));
    expect(foreignWrites()?.count).toBe(1);
  });

  test('a write of a plan that was dropped because messages were lost', () => {
    update();
    evolve(state, { kind: 'messagesLost' }, now, settings);
    receive(aChange(++sequence, [version(60, 2)]));
    expect(foreignWrites()).toBeUndefined();
  });

  test.each([
    ['a change of annotations', () => version(60, 1, { annotations: { mine: 'yes' } })],
    ['a graceful deletion', () => version(60, 2, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['another object of the same name', () => version(60, 9, { uid: 'another' })],
    ['a slice of nobody', () => fact.slice('mine', { labels: { 'kubernetes.io/service-name': 'web' } })],
  ])('%s', (_, observed) => {
    receive(aChange(++sequence, [observed()]));
    expect(foreignWrites()).toBeUndefined();
  });
});

describe('a restore from a backup is proven (C19)', () => {
  beforeEach(() => complete(update(), 60, 2));

  const snapshot = (slice: Fact, endpointslices: string) =>
    aSnapshot([2, 1], [{ kind: 'service', service: aService() }, slice], { endpointslices, initial: true });

  test('by a newer version with a lower generation', () => {
    const change = aChange(++sequence, [version(70, 1)]);
    expect(proofOfRestore(state, change)).toBe(`slice ${name} has generation 1 again`);
  });

  test('by a list that is newer than a write and lacks it', () => {
    expect(proofOfRestore(state, snapshot(version(50, 1), '1000'))).toBe(
      `slice ${name} was listed at 1000 in version 50 after 60`,
    );
  });

  test.each([
    ['a list from before the write', () => snapshot(version(50, 1), '59')],
    ['a late event of an earlier version', () => aChange(++sequence, [version(50, 1)])],
    ['the version that was written', () => snapshot(version(60, 2), '1000')],
    ['a slice that was created again', () => snapshot(version(70, 1, { uid: 'another' }), '1000')],
    ['a Change that was applied before', () => aChange(1, [version(70, 1)])],
  ])('not by %s', (_, change) => {
    expect(proofOfRestore(state, change())).toBeUndefined();
  });
});
