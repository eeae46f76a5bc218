import type { Message, PlannedMutations } from '@sluice/messages';
import { expect, test } from 'vitest';
import { evolve, initialState } from './evolve.ts';
import { LogMerge } from './log-merge.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const snapshot = aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')]);
const change = aChange(2, [fact.pod('q')]);
const decided = given(snapshot).when();
const [slices, endpoints] = [decided.plan('endpointslice'), decided.plan('endpoints')];
const outcomes = [anOutcome(slices), anOutcome(endpoints)] as const;
const onChange: PlannedMutations = {
  ...slices,
  plan: { ...slices.plan, number: 9 },
  basis: { stamp: change.stamp, inFlight: [] },
};
const malformed = undefined;

/** The records in the order in which they are merged, by topic and position: `c0 m0 c1`. A malformed one has no message. */
function merged(changes: readonly (Message | undefined)[], mutations: readonly (Message | undefined)[]) {
  const topics = {
    changes: changes.map((message, position) => ({ name: `c${position}`, message })),
    mutations: mutations.map((message, position) => ({ name: `m${position}`, message })),
  };
  const state = initialState(key);
  const merge = new LogMerge<{ readonly name: string; readonly message: Message | undefined }>(
    ({ message }) => message,
  );
  const order: string[] = [];
  for (;;) {
    const next = merge.next(state, topics);
    if (next === undefined) break;
    const { record, message } = next;
    order.push(message === undefined ? `${record.name}?` : record.name);
    if (message && message.kind !== 'clusterRemoved' && message.kind !== 'resync')
      evolve(state, message, startTime, defaultSettings);
  }
  expect([merge.changes, merge.mutations]).toEqual([changes.length, mutations.length]);
  return order.join(' ');
}

test('a plan follows the Change on which it was decided, and precedes later ones', () => {
  expect(merged([snapshot, change, ...outcomes], [slices, endpoints])).toBe('c0 m0 m1 c1 c2 c3');
  expect(merged([snapshot, ...outcomes, change], [slices, endpoints, onChange])).toBe('c0 m0 m1 c1 c2 c3 m2');
});

test('a plan precedes its Outcome, and both follow the Changes on which it was decided', () => {
  const completed = anOutcome(onChange);
  expect(merged([snapshot, ...outcomes, completed, change], [slices, endpoints, onChange])).toBe(
    'c0 m0 m1 c1 c2 c4 m2 c3',
  );
  expect(merged([snapshot, ...outcomes, completed], [slices, endpoints, onChange]), 'without the Change').toBe(
    'c0 m0 m1 c1 c2 m2 c3',
  );
});

test('a plan that does not say on what it was decided follows the clocks', () => {
  const { basis, ...plan } = { ...slices, decidedAt: 5 };
  const at = (number: number, observedAt: number) =>
    ({ ...aChange(number, [fact.pod('q')]), causes: { first: [{ description: 'a', observedAt }], more: 0 } }) as const;
  expect(merged([at(1, 4), at(2, 5), at(3, 6)], [plan])).toBe('c0 c1 m0 c2');
});

test('a malformed record is returned without a message, and so is a plan among the Changes', () => {
  expect(merged([snapshot, malformed, change], [malformed, slices])).toBe('m0? c0 c1? m1 c2');
  expect(merged([slices, malformed], [malformed])).toBe('m0? c0? c1?');
});
