import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { RecordConverter, RecordingDirectory } from '@sluice/recording';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecording } from './open-recording.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
const clock = new VirtualClock(1e12);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-open-'));
  const recording = new RecordingDirectory(directory, { version: '1', limits });
  recording.nameCluster('c', 'west');
  recording.append([change(1, 1_000, true), change(2, 2_000, false)].flatMap(toRecord), 3_000);
  recording.append([change(3, 4_000, true)].flatMap(toRecord), 5_000, { afterLoss: true });
  recording.close(6_000);
});

afterEach(() => rmSync(directory, { recursive: true }));

/** The first and the third Change are snapshots. */
function change(sequence: number, at: number, ready: boolean): Change {
  const pod = { kind: 'pod', name: 'web-1', pod: aPodNamed('web-1', { ready }), node: { zone: 'a' } } as const;
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  return {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence }, facts: [pod] },
    causes: { first: [{ description: `change ${sequence}`, observedAt: at }], more: 0 },
    ...(sequence !== 2 && { snapshot, facts: [{ kind: 'service', service: aService() }, pod] }),
  };
}

const converter = new RecordConverter(silentLogger);
function toRecord(message: Change) {
  const record = { key: 'c/shop/web', id: '', headers: {}, payload: encodeMessage(message), message };
  return converter.convert('changes', record, message.causes.first[0]?.observedAt ?? 0) ?? [];
}

const open = (path: string, unreadable: string[] = []) =>
  openRecording(path, { clock, onProgress: () => {}, onUnreadable: (reason) => void unreadable.push(reason) });

test('a directory is opened with its last state and its past', async () => {
  const opened = await open(directory);
  expect(opened.clusters).toMatchObject([{ identity: 'c', name: 'west', outage: { since: 6_000 } }]);
  expect(opened.period).toEqual({ from: 3_000, to: 6_000 });
  const journal = opened.history.get(key);
  expect(journal?.state.pods.get('web-1')?.pod.ready).toBe(true);
  expect(journal?.since).toBe(4_000);
  const { records } = await opened.recording.records('c/shop/web', { since: 0, until: 2_500, records: 10 });
  expect(records.map(({ receivedAt }) => receivedAt)).toEqual([1_000, 2_000]);
  expect((await opened.recording.coverage()).periods).toHaveLength(2);
  opened.close();
});

test('one file is opened on its own', async () => {
  const [first] = readdirSync(directory).filter((name) => name.startsWith('sluice-'));
  const opened = await open(join(directory, first ?? ''));
  expect(opened.history.get(key)?.state.pods.get('web-1')?.pod.ready).toBe(false);
  opened.close();
});

test('what cannot be read is named, and the rest is opened', async () => {
  const [first] = readdirSync(directory).filter((name) => name.startsWith('sluice-'));
  writeFileSync(join(directory, first ?? ''), 'x'.repeat(5_000));
  const unreadable: string[] = [];
  const opened = await open(directory, unreadable);
  expect(unreadable).toEqual([expect.stringContaining('file is not a database')]);
  expect(opened.history.size).toBe(1);
  opened.close();
});

test('a path without a recording is an error that says so', async () => {
  await expect(open(join(directory, 'none'))).rejects.toThrow(
    /^there is no recording at .*none; "sluice observe" makes one$/,
  );
  await expect(open(tmpdir())).rejects.toThrow(/contains no recording of sluice/);
  const file = join(directory, 'file');
  writeFileSync(file, 'x');
  await expect(open(file)).rejects.toThrow(/contains no recording of sluice\n.*file is not a recording of sluice/);
});
