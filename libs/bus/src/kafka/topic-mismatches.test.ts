import { expect, test } from 'vitest';
import { type ExistingTopic, reportedMessageBytes, topicMismatches, wantedTopics } from './topic-mismatches.ts';

const [changes, , requests] = wantedTopics({
  fleet: 'sluice',
  partitions: 64,
  replicationFactor: 3,
  minInsyncReplicas: 2,
  retentionMs: { changes: 1000, mutations: 2000, requests: 3000 },
  retentionBytes: { changes: 4096, mutations: 4096, requests: 2048 },
  maxMessageBytes: 500,
});
if (changes === undefined || requests === undefined) throw new Error('expected three topics');

function existing(
  changed: Partial<ExistingTopic> = {},
  settings: Readonly<Record<string, string>> = {},
): ExistingTopic {
  const all = { ...changes?.settings, ...settings };
  return { name: 'sluice.changes', partitions: 64, replicas: 3, settings: new Map(Object.entries(all)), ...changed };
}

test('each topic has its own retention, and requests has one partition', () => {
  expect(changes).toMatchObject({ name: 'sluice.changes', partitions: 64, settings: { 'retention.ms': '1000' } });
  expect(requests).toMatchObject({ name: 'sluice.requests', partitions: 1, settings: { 'retention.ms': '3000' } });
});

test('accepts equal settings, longer retention and larger limits', () => {
  expect(topicMismatches(changes, existing())).toEqual([]);
  const larger = {
    'retention.ms': '-1',
    'retention.bytes': '-1',
    'segment.bytes': '1000000',
    'max.message.bytes': '501',
    'min.insync.replicas': '3',
  };
  expect(topicMismatches(changes, existing({ replicas: 4 }, larger))).toEqual([]);
});

test('reports every mismatch with the existing and the wanted value', () => {
  const mismatched = existing(
    { partitions: 65, replicas: 2 },
    {
      'cleanup.policy': 'compact,delete',
      'retention.ms': '999',
      'retention.bytes': '4095',
      'max.message.bytes': '499',
      'min.insync.replicas': '1',
    },
  );
  expect(topicMismatches(changes, mismatched)).toEqual([
    'topic sluice.changes: partitions is 65, want 64',
    'topic sluice.changes: replication factor is 2, want 3',
    'topic sluice.changes: cleanup.policy is compact,delete, want delete',
    'topic sluice.changes: retention.ms is 999, want at least 1000',
    'topic sluice.changes: retention.bytes is 4095, want at least 4096',
    'topic sluice.changes: max.message.bytes is 499, want at least 500',
    'topic sluice.changes: min.insync.replicas is 1, want at least 2',
  ]);
});

test('accepts a topic that takes smaller messages than configured, down to 16 KiB', () => {
  const [topic] = wantedTopics({
    fleet: 'sluice',
    partitions: 64,
    replicationFactor: 3,
    minInsyncReplicas: 2,
    retentionMs: { changes: 1000, mutations: 2000, requests: 3000 },
    retentionBytes: { changes: 4096, mutations: 4096, requests: 2048 },
    maxMessageBytes: 4_194_304,
  });
  if (topic === undefined) throw new Error('expected a topic');
  expect(topicMismatches(topic, existing({}, { 'max.message.bytes': '1048588' }))).toEqual([]);
  expect(topicMismatches(topic, existing({}, { 'max.message.bytes': '16383' }))).toEqual([
    'topic sluice.changes: max.message.bytes is 16383, want at least 16384',
  ]);
});

test('the limit of a batch is the lowest that a topic reports', () => {
  const topics = ['1048588', '4194304'].map((bytes) => existing({}, { 'max.message.bytes': bytes }));
  expect(reportedMessageBytes(topics)).toBe(1_048_588);
  expect(reportedMessageBytes([existing({ settings: new Map() })])).toBeUndefined();
});

test('reports a setting that the cluster does not return', () => {
  expect(topicMismatches(changes, existing({ settings: new Map() }))).toContain(
    'topic sluice.changes: retention.ms is unknown, want at least 1000',
  );
});
