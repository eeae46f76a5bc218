import type { StreamConfig } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { settings } from './options.ts';
import { logNames, misfits, streamConfig } from './stream-config.ts';

const log = { topic: 'changes', partition: 7 } as const;
const wanted = streamConfig(settings({ servers: ['nats://localhost:4222'], partitions: 64 }), log);

/** As the server shows it: with everything that was not in the request. */
const found = {
  ...wanted,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  max_consumers: -1,
  sealed: false,
  metadata: { ...wanted.metadata, '_nats.ver': '2.15.2' },
} as StreamConfig;

test('a stream as it was made fits', () => {
  expect(misfits(wanted, found)).toEqual([]);
});

const cases: readonly [setting: string, change: Partial<StreamConfig>, complaint: string][] = [
  ['age', { max_age: 3_600_000_000_000 }, 'max_age is 3600000000000, wanted is 86400000000000'],
  ['size', { max_bytes: -1 }, 'max_bytes is -1, wanted is 67108864'],
  ['copies', { num_replicas: 3 }, 'num_replicas is 3, wanted is 1'],
  ['duplicate window', { duplicate_window: 0 }, 'duplicate_window is 0, wanted is 120000000000'],
  ['storage', { storage: 'memory' }, 'storage is "memory", wanted is "file"'],
  ['retention', { retention: 'interest' }, 'retention is "interest", wanted is "limits"'],
  ['discard', { discard: 'new' }, 'discard is "new", wanted is "old"'],
  ['a limit of records', { max_msgs: 1000 }, 'max_msgs is 1000, wanted is -1'],
  ['other subjects', { subjects: ['sluice.>'] }, 'subjects is ["sluice.>"], wanted is ["sluice.changes.7"]'],
  ['sources', { sources: [{ name: 'other' }] }, 'sources is [{"name":"other"}], wanted is none'],
  ['sealed', { sealed: true }, 'sealed is true, wanted is none'],
  ['partitions', { metadata: { 'sluice-partitions': '8' } }, 'metadata sluice-partitions is "8", wanted is "64"'],
  ['foreign', { metadata: {} }, 'metadata sluice-partitions is not set, wanted is "64"'],
];

test.each(cases)('one that does not fit is told by what is there and what is wanted: %s', (_, change, complaint) => {
  expect(misfits(wanted, { ...found, ...change } as StreamConfig)).toEqual([complaint]);
});

test('a fleet has a stream for each partition of each topic, and one for requests', () => {
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
