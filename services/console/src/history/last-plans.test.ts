import type { PlannedMutations } from '@sluice/messages';
import { expect, test } from 'vitest';
import { anOutcome, aPlan, flip, journalOf, podChange, record, sliceFact, sliceOf } from '../testing/records.ts';
import { LastPlans } from './last-plans.ts';

function planOf(number: number, ...slices: string[]): PlannedMutations {
  const slice = sliceOf('web-1', { version: '1', ready: true });
  const object = (name: string) => ({ ...slice, metadata: { ...slice.metadata, name } });
  return aPlan(
    number,
    number,
    slices.map((name) => ({ verb: 'update', object: object(name) })),
  );
}

function kept(...messages: (PlannedMutations | ReturnType<typeof anOutcome>)[]): readonly string[] {
  const plans = new LastPlans();
  for (const message of messages) {
    if (message.kind === 'outcome') plans.addOutcome(message);
    else plans.addPlan(message, record(message));
  }
  return [...plans.all].map(({ plan, outcome }) => `${plan.plan.number}${outcome === undefined ? '' : ' completed'}`);
}

const outcome = (number: number) => anOutcome(number, 10, 9, [{ verb: 'update', version: '2' }]);

test('the last plan of each object and of each controller is kept, with its Outcome', () => {
  expect(kept(planOf(1, 'a'), outcome(1), planOf(2, 'a'), outcome(2))).toEqual(['2 completed']);
  expect(kept(planOf(1, 'a', 'b'), outcome(1), planOf(2, 'a'), outcome(2), planOf(3, 'c'))).toEqual([
    '1 completed',
    '2 completed',
    '3',
  ]);
  expect(kept(planOf(1, 'a'), outcome(1), planOf(2))).toEqual(['1 completed', '2']);
  const endpoints = { ...planOf(3, 'a'), controller: 'endpoints' as const };
  expect(kept(planOf(1, 'b'), outcome(1), endpoints, planOf(2, 'b'))).toEqual(['3', '2']);
});

test('a redelivery, also of an earlier plan, changes nothing', () => {
  expect(kept(planOf(1, 'a'), outcome(1), planOf(2, 'a'), planOf(1, 'a'), planOf(2, 'a'))).toEqual(['2']);
});

test('an Outcome without a plan is not one of the series', () => {
  expect(new LastPlans().addOutcome(outcome(1))).toBe(false);
});

test('a journal that drops all records shows the same objects, also if no watch event repeats a write', () => {
  const [first, plan, written, change] = flip();
  const third = { ...sliceOf('web-1', { version: '30', ready: false }), ports: [] };
  for (const messages of [
    [first, plan, written],
    [first, plan, written, change],
    [...flip()],
    [...flip(), podChange(3, 6_000, sliceFact(third))],
  ]) {
    const [journal, shortened] = [journalOf(...messages), journalOf(...messages)];
    shortened.dropBefore(Number.POSITIVE_INFINITY);
    expect(shortened.entries).toEqual([]);
    expect([...shortened.state.slices]).toEqual([...journal.state.slices]);
    expect([...shortened.state.pods]).toEqual([...journal.state.pods]);
  }
});

test('what the API server refuses is known after all records were dropped, until a Change makes a new decision', () => {
  const [first, , , change] = flip();
  const refused = { ...outcome(1), status: 'rejected' as const, message: 'denied', results: [] };
  const journal = journalOf(first, planOf(1, 'web-slice'), refused);
  const shown = () => [...journal.state.refused.values()].map(({ message }) => message);
  expect(shown()).toEqual(['denied']);
  journal.dropBefore(Number.POSITIVE_INFINITY);
  expect(shown()).toEqual(['denied']);
  journal.add('changes', record(change));
  expect(shown()).toEqual([]);
});
