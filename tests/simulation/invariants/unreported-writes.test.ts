import { ApiError } from '@sluice/kubernetes';
import { type MutationResult, noCauses, type Outcome, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { beforeEach, expect, test } from 'vitest';
import { UnreportedWrites } from './unreported-writes.ts';

const update: Mutation = {
  verb: 'update',
  resource: 'endpoints',
  object: { metadata: { name: 'web', namespace: 'shop', resourceVersion: '7' } },
};
const result = { group: 0, index: 0, verb: 'update', resource: 'endpoints', name: 'web' } as const;
const applied: MutationResult = { ...result, status: 'applied' };
const failed: MutationResult = { ...result, status: 'failed', error: 'conflict' };

const common = (number: number) => ({
  key: { cluster: 'c', namespace: 'shop', service: 'web' },
  controller: 'endpoints' as const,
  plan: { epoch: 1, number },
  causes: noCauses,
  decidedAt: 0,
});
const plan = (number: number): PlannedMutations => ({
  ...{ kind: 'mutations', ...common(number), serviceUid: 'u', groups: [{ mutations: [update] }], events: [] },
  incomplete: [],
});
const outcome = (number: number, status: Outcome['status'], ...results: MutationResult[]): Outcome => ({
  ...{ kind: 'outcome', ...common(number), status, results, message: '', completedAt: 0, retries: 0 },
});

let writes: UnreportedWrites;

beforeEach(() => {
  writes = new UnreportedWrites(() => 0);
});

/** The writer sends the update of one of these plans, newest first. */
async function send(first: number, ...older: number[]): Promise<void> {
  await writes.during('w', [plan(first), ...older.map(plan)], update, async () => {});
}
async function sendInVain(first: number, ...older: number[]): Promise<void> {
  const error = new ApiError('conflict', { kind: 'conflict', status: 409, reason: 'Conflict' });
  const sent = writes.during('w', [plan(first), ...older.map(plan)], update, () => Promise.reject(error));
  await expect(sent).rejects.toBe(error);
}
const concealed = (told: Outcome) => writes.concealedBy('w', told);

test('an Outcome conceals a write that it does not report', async () => {
  await send(1);
  expect(concealed(outcome(1, 'applied', applied))).toBeUndefined();
  await send(2);
  expect(concealed(outcome(2, 'conflict'))).toBe('conflict, without the writes that were sent');
  await send(3);
  expect(concealed(outcome(3, 'applied', { ...applied, name: 'db' }))).toBe(
    'applied, without update endpoints web, which has succeeded',
  );
});

test('nothing is expected of a writer that has claimed its partition again', async () => {
  await send(1);
  writes.claimed('w', 'writer/0');
  expect(concealed(outcome(1, 'conflict'))).toBeUndefined();
});

test('a write that two plans contain is one of the plan whose Outcome reports it', async () => {
  await sendInVain(2, 1);
  expect(concealed(outcome(1, 'conflict', failed))).toBeUndefined();
  // Held back before it sent anything.
  expect(concealed(outcome(2, 'conflict'))).toBeUndefined();
});

test('one of them has to report it', async () => {
  await sendInVain(2, 1);
  expect(concealed(outcome(1, 'conflict'))).toBeUndefined();
  expect(concealed(outcome(2, 'conflict'))).toBe('conflict, without the writes that were sent');
});

test('a plan with an Outcome has sent none of the later writes', async () => {
  await sendInVain(1);
  writes.answered('w', outcome(1, 'conflict', failed));
  await send(2, 1);
  expect(concealed(outcome(1, 'conflict', failed))).toBeUndefined();
  expect(concealed(outcome(2, 'conflict'))).toBe('conflict, without the writes that were sent');
});
