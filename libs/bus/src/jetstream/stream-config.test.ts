import type { StreamConfig } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { settings } from './options.ts';
import { hasOtherPartitions, logNames, streamConfig, streamMismatches } from './stream-config.ts';

const log = { topic: 'changes', partition: 7 } as const;
const wanted = streamConfig(settings({ servers: ['nats://localhost:4222'], partitions: 64 }), log);

/** The configuration as the server returns it, with defaults filled in. */
const existing = {
  ...wanted,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  max_consumers: -1,
  sealed: false,
  metadata: { ...wanted.metadata, '_nats.ver': '2.15.2' },
} as StreamConfig;

test('accepts a stream that Sluice created', () => {
  expect(streamMismatches(wanted, existing)).toEqual([]);
});

const cases: readonly [setting: string, change: Partial<StreamConfig>, line: string][] = [
  ['age', { max_age: 3_600_000_000_000 }, 'max_age is 3600000000000, want 86400000000000'],
  ['size', { max_bytes: -1 }, 'max_bytes is -1, want 67108864'],
  ['replicas', { num_replicas: 3 }, 'num_replicas is 3, want 1'],
  ['duplicate window', { duplicate_window: 0 }, 'duplicate_window is 0, want 120000000000'],
  ['storage', { storage: 'memory' }, 'storage is "memory", want "file"'],
  ['retention', { retention: 'interest' }, 'retention is "interest", want "limits"'],
  ['discard', { discard: 'new' }, 'discard is "new", want "old"'],
  ['message limit', { max_msgs: 1000 }, 'max_msgs is 1000, want -1'],
  ['other subjects', { subjects: ['sluice.>'] }, 'subjects is ["sluice.>"], want ["sluice.changes.7"]'],
  ['sources', { sources: [{ name: 'other' }] }, 'sources is [{"name":"other"}], want none'],
  ['sealed', { sealed: true }, 'sealed is true, want none'],
  ['partitions', { metadata: { 'sluice-partitions': '8' } }, 'metadata sluice-partitions is "8", want "64"'],
  ['metadata', { metadata: {} }, 'metadata sluice-partitions is not set, want "64"'],
];

test.each(cases)('reports a mismatch with the existing and the wanted value: %s', (_, change, line) => {
  expect(streamMismatches(wanted, { ...existing, ...change } as StreamConfig)).toEqual([line]);
});

test('a fleet has one stream per partition of changes and mutations, and one for requests', () => {
  const names = logNames(3).map(({ topic, partition }) => `${topic} ${partition}`);
  expect(names).toEqual([
    'changes 0',
    'changes 1',
    'changes 2',
    'mutations 0',
    'mutations 1',
    'mutations 2',
    'requests 0',
  ]);
});

test('tells streams of a fleet with another number of partitions from other mismatches', () => {
  expect(hasOtherPartitions(wanted, existing)).toBe(false);
  expect(hasOtherPartitions(wanted, { metadata: { 'sluice-partitions': '8' } })).toBe(true);
  expect(hasOtherPartitions(wanted, { metadata: {} })).toBe(false);
});
