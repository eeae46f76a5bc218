import { expect, test } from 'vitest';
import { type FoundTopic, misfits, wantedTopics } from './topic-fit.ts';

const [changes, , requests] = wantedTopics({
  fleet: 'sluice',
  partitions: 64,
  replicationFactor: 3,
  minInsyncReplicas: 2,
  retentionMs: { changes: 1000, mutations: 2000, requests: 3000 },
  maxMessageBytes: 500,
});
if (changes === undefined || requests === undefined) throw new Error('three topics are wanted');

function found(changed: Partial<FoundTopic> = {}, settings: Readonly<Record<string, string>> = {}): FoundTopic {
  const all = { ...changes?.settings, ...settings };
  return { name: 'sluice.changes', partitions: 64, replicas: 3, settings: new Map(Object.entries(all)), ...changed };
}

test('each topic has its own retention, and requests one partition', () => {
  expect(changes).toMatchObject({ name: 'sluice.changes', partitions: 64, settings: { 'retention.ms': '1000' } });
  expect(requests).toMatchObject({ name: 'sluice.requests', partitions: 1, settings: { 'retention.ms': '3000' } });
});

test('what is as wanted fits, and what keeps or takes more', () => {
  expect(misfits(changes, found())).toEqual([]);
  const more = { 'retention.ms': '-1', 'max.message.bytes': '501', 'min.insync.replicas': '3' };
  expect(misfits(changes, found({ replicas: 4 }, more))).toEqual([]);
});

test('each thing that does not fit is named with what is there and what is wanted', () => {
  const there = found(
    { partitions: 65, replicas: 2 },
    {
      'cleanup.policy': 'compact,delete',
      'retention.ms': '999',
      'max.message.bytes': '499',
      'min.insync.replicas': '1',
    },
  );
  expect(misfits(changes, there)).toEqual([
    'topic sluice.changes: partitions is 65, wanted is 64',
    'topic sluice.changes: replication factor is 2, wanted is 3',
    'topic sluice.changes: cleanup.policy is compact,delete, wanted is delete',
    'topic sluice.changes: retention.ms is 999, wanted is at least 1000',
    'topic sluice.changes: max.message.bytes is 499, wanted is at least 500',
    'topic sluice.changes: min.insync.replicas is 1, wanted is at least 2',
  ]);
});

test('a setting that the cluster does not tell does not fit', () => {
  expect(misfits(changes, found({ settings: new Map() }))).toContain(
    'topic sluice.changes: retention.ms is not known, wanted is at least 1000',
  );
});
