import { expect, test } from 'vitest';
import { journalOf, pod, podChange, service, snapshot } from '../testing/records.ts';
import { deletingSince } from './deleting-since.ts';

const first = snapshot(1, 1_000, [service(), pod('web-1', {}), pod('web-2', { terminating: true })]);
const deleted = podChange(2, 2_000, pod('web-1', { terminating: true }));
const unready = podChange(3, 3_000, pod('web-1', { terminating: true, ready: false }));
const removed = podChange(4, 4_000, { kind: 'pod', name: 'web-1', uid: 'web-1-uid', node: null, pod: null } as never);
const recreated = podChange(5, 5_000, pod('web-1', { uid: 'another' }));

test('returns when the deletion of a Pod was first observed, also after its removal', () => {
  expect([...deletingSince(journalOf(first, deleted, unready, removed).entries)]).toEqual([['web-1', 2_000]]);
});

test('ignores an earlier Pod of the same name', () => {
  expect([...deletingSince(journalOf(first, deleted, removed, recreated).entries)]).toEqual([]);
  expect([
    ...deletingSince(journalOf(first, deleted, { ...recreated, stamp: { epoch: 1, sequence: 3 } }).entries),
  ]).toEqual([]);
});
