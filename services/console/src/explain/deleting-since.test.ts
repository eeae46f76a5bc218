import { expect, test } from 'vitest';
import { journalOf, pod, podChange, service, snapshot } from '../testing/records.ts';
import { deletingSince } from './deleting-since.ts';

const first = snapshot(1, 1_000, [service(), pod('web-1', {}), pod('web-2', { terminating: true })]);
const deleted = podChange(2, 2_000, pod('web-1', { terminating: true }));
const unready = podChange(3, 3_000, pod('web-1', { terminating: true, ready: false }));
const gone = podChange(4, 4_000, { kind: 'pod', name: 'web-1', uid: 'web-1-uid', node: null, pod: null } as never);
const again = podChange(5, 5_000, pod('web-1', { uid: 'another' }));

test('a Pod is being deleted since that was first seen, and was so when it is gone', () => {
  expect([...deletingSince(journalOf(first, deleted, unready, gone).entries)]).toEqual([['web-1', 2_000]]);
});

test('another one of its name is not', () => {
  expect([...deletingSince(journalOf(first, deleted, gone, again).entries)]).toEqual([]);
  expect([...deletingSince(journalOf(first, deleted, { ...again, stamp: { epoch: 1, sequence: 3 } }).entries)]).toEqual(
    [],
  );
});
