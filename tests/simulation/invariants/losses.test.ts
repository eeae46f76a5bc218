import { type Change, type ClusterRemoved, encodeMessage, formatServiceKey, noCauses } from '@sluice/messages';
import { expect, test } from 'vitest';
import { Violations } from '../violations.ts';
import { LossInvariants } from './losses.ts';

const checkpoint = { offset: 0, id: '', streamId: '' };
const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const change = (sequence: number, previousSequence: number): Change => ({
  ...{ kind: 'change', key, stamp: { epoch: 2, sequence }, previousSequence, facts: [], causes: noCauses },
});
const removed = (epoch: number): ClusterRemoved => ({ kind: 'clusterRemoved', cluster: key.cluster, epoch });

/** What is reported when a reconciler commits the last of these messages, and has requested no resync. */
function committed(...messages: readonly (Change | ClusterRemoved)[]): readonly string[] {
  const violations = new Violations(() => 0);
  const losses = new LossInvariants(violations, true, () => 0);
  losses.claimed('r', 'reconciler/0', { checkpoint, intact: true, entries: [] });
  const records = messages.map((message, i) => ({
    ...{ key: message.kind === 'change' ? formatServiceKey(message.key) : message.cluster, id: String(i), headers: {} },
    ...{ payload: encodeMessage(message), offset: i + 1 },
  }));
  losses.delivered('r', 'changes', 0, records);
  const last = { key: key.cluster, field: 'lastChange', value: { epoch: 2, sequence: messages.length } };
  losses.committed('r', {
    ...{ scope: 'reconciler/0', fencingToken: 1, expectedOffset: 0, checkpoint, entries: [last] },
  });
  return violations.all.map(({ what }) => what);
}

const gap = 'r commits reconciler/0 past a gap before 2/3, and has requested no resync';

test('a gap requires a resync', () => {
  expect(committed(change(1, 0), change(3, 2), change(4, 3))).toEqual([gap]);
});

test('a gap before the removal of the cluster requires none', () => {
  expect(committed(change(1, 0), change(3, 2), removed(2), change(4, 3))).toEqual([]);
});

test('a removal by an earlier watcher closes no gap', () => {
  expect(committed(change(1, 0), change(3, 2), removed(1), change(4, 3))).toEqual([gap]);
});

test('a gap after the removal requires a resync', () => {
  expect(committed(removed(2), change(1, 0), change(3, 2), change(4, 3))).toEqual([gap]);
});
