import { expect, test } from 'vitest';
import type { CompletedEntry, Entry, ObservedEntry } from '../../src/view/entry-schemas.ts';
import { firstAt, groupEntries, lastAt } from './group-entries.ts';

const causedBy = (description: string) => ({ first: [{ description, observedAt: 1 }], more: 0 });
const completed = (at: number, controller: string, cause: string): CompletedEntry => ({
  ...{ kind: 'completed', at, controller, causes: causedBy(cause), plan: { epoch: 1, number: at } },
  ...{ status: 'applied', message: '', retries: 0, latencyMs: 5, applyMs: 5, writes: [], endpoints: [] },
});
const observed = (at: number, of: 'slice' | 'endpoints' | 'pod', cause?: string): ObservedEntry => {
  const causes = causedBy(cause ?? '');
  const write = {
    verb: 'update',
    manager: null,
    causes,
    inferredFrom: 'content',
    latencyMs: 5,
    endpoints: [],
  } as const;
  const observation = { of, name: 'web', text: '', ...(cause !== undefined && { write }) };
  return { kind: 'observed', at, causes, observations: [observation] };
};
const shown = (entries: readonly Entry[]) => groupEntries(entries).map((group) => group.map(({ at }) => at));

test('groups writes of slices and Endpoints by their cause, slices first, in the place of the last one', () => {
  const entries = [
    completed(1, 'endpoints', 'a became ready'),
    observed(2, 'pod'),
    completed(3, 'endpointslice', 'a became ready'),
    completed(4, 'endpointslice', 'b became ready'),
    completed(5, 'endpoints', 'b became ready'),
  ];
  expect(shown(entries)).toEqual([[2], [3, 1], [4, 5]]);
  const [, group] = groupEntries(entries);
  expect(group && [firstAt(group), lastAt(group)]).toEqual([1, 3]);
});

test('groups writes of other controllers', () => {
  expect(shown([observed(1, 'slice', 'a became ready'), observed(2, 'endpoints', 'a became ready')])).toEqual([[1, 2]]);
});

test('keeps writes apart that another change caused, and a repetition', () => {
  const slices = (at: number) => completed(at, 'endpointslice', 'a became ready');
  expect(shown([slices(1), slices(2), completed(3, 'endpoints', 'b became ready')])).toEqual([[1], [2], [3]]);
  expect(shown([slices(1), completed(2, 'endpoints', 'a became ready'), slices(3)])).toEqual([[1, 2], [3]]);
  expect(shown([observed(1, 'slice'), observed(2, 'endpoints')])).toEqual([[1], [2]]);
});
