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
  const losses = new LossInvariants(violations, { isReadable: true }, () => 0);
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

/** What is reported about a plan that is committed up to this offset, if it was decided at the time at which a gap was delivered at offset 3. */
function planned(upTo: number, isEarly = false): readonly string[] {
  const violations = new Violations(() => 0);
  const losses = new LossInvariants(violations, { isReadable: true }, () => 7);
  losses.claimed('r', 'reconciler/0', { checkpoint, intact: true, entries: [] });
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const snapshot = { ...change(1, 0), snapshot: { first: true, last: true, initial: true, resourceVersions } };
  const delivery = (message: Change, offset: number) => ({
    ...{ key: formatServiceKey(key), id: String(offset), headers: {}, payload: encodeMessage(message), offset },
  });
  losses.delivered('r', 'changes', 0, [delivery(snapshot, 1)]);
  losses.delivered('r', 'changes', 0, [{ ...delivery(change(3, 2), isEarly ? 0 : 3), isEarly }]);
  losses.requested('r', { kind: 'resync', scope: { partition: 0, cluster: key.cluster }, reason: 'gap' });
  const value = { plan: { epoch: 2, number: 1 }, decidedAt: 7 };
  const entries = [{ key: formatServiceKey(key), field: 'controller/endpoints:plan', value }];
  losses.committed('r', {
    ...{
      scope: 'reconciler/0',
      fencingToken: 1,
      expectedOffset: 0,
      checkpoint: { ...checkpoint, offset: upTo },
      entries,
    },
  });
  return violations.all.map(({ what }) => what);
}

const undecidable = 'r commits reconciler/0 with a plan for c/shop/web that was decided without a new snapshot';

test('a plan that was decided just before a gap was delivered is committed', () => {
  expect(planned(2)).toEqual([]);
});

test('a plan that was decided after a gap was applied is not', () => {
  expect(planned(3)).toEqual([undecidable]);
  expect(planned(2, true)).toEqual([undecidable]);
});
