import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Fact, type Message } from '@sluice/messages';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Playback } from './playback.ts';
import { RecordConverter } from './record-converter.ts';
import type { ObjectChange } from './recorded-objects.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
let directory: string;
let converter: RecordConverter;
let recording: RecordingDirectory;
let reader: RecordingReader;
let sequence: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-playback-'));
  recording = new RecordingDirectory(directory, { version: '1', limits });
  reader = new RecordingReader(directory);
  converter = new RecordConverter(silentLogger);
  sequence = 0;
});

afterEach(() => {
  reader.close();
  recording.close(1e7);
  rmSync(directory, { recursive: true });
});

const resourceVersions = { endpoints: '1', endpointslices: '1' };
const whole = { first: true, last: true, initial: false, resourceVersions };

function change(service: string, facts: readonly Fact[], given: Partial<Change> = {}): Change {
  const key = { cluster: 'c', namespace: 'shop', service };
  const stamp = { epoch: 1, sequence: ++sequence };
  return { kind: 'change', key, stamp, facts, causes: { first: [], more: 0 }, resourceVersions, ...given };
}

function append(at: number, message: Message, { afterLoss = false, key = '' } = {}): void {
  const keyOf = message.kind === 'change' ? `c/shop/${message.key.service}` : key;
  const record = { key: keyOf, id: '', headers: {}, payload: encodeMessage(message), message };
  const added = converter.convert('changes', record, at);
  recording.append(added === undefined ? [] : [added], at, { afterLoss });
}

const service = (selector: Readonly<Record<string, string>>, name = 'web'): Fact => ({
  kind: 'service',
  service: aService({ name, selector }),
});
const pod = (name: string, given: Parameters<typeof aPodNamed>[1] = {}): Fact => ({
  ...{ kind: 'pod', name, pod: aPodNamed(name, given), node: { zone: 'a' } },
});
const slice = (name: string): Fact => ({ kind: 'slice', name, uid: name, slice: aSlice(name) });

const names = (changes: readonly ObjectChange[]) =>
  changes.map(({ resource, name, object }) => `${object === null ? '-' : ''}${resource}/${name}`);
const labelsOf = (changes: readonly ObjectChange[]) =>
  changes.flatMap(({ resource, object }) =>
    resource === 'pods' ? [(object as { metadata: { labels: unknown } } | null)?.metadata.labels] : [],
  );

test('shows the objects at a time, and what changes until another', () => {
  append(10, change('web', [service({ app: 'web' }), pod('web-1'), slice('web-a')], { snapshot: whole }));
  append(20, change('web', [pod('web-1', { ready: false }), pod('web-2')]));
  append(30, change('web', [{ kind: 'pod', name: 'web-1', pod: null, node: null }]));
  const playback = new Playback(reader, 10);
  expect(names(playback.start)).toEqual([
    'namespaces/shop',
    'services/web',
    'pods/web-1',
    'nodes/node-a',
    'endpointslices/web-a',
  ]);
  expect(names(playback.advance(19))).toEqual([]);
  expect(names(playback.advance(20))).toEqual(['pods/web-1', 'pods/web-2']);
  expect(names(playback.advance(1e6))).toEqual(['-pods/web-1']);
  expect(names(new Playback(reader, 5).start)).toEqual([]);
});

test('a Pod of two Services has the labels of both, and goes with the last of them', () => {
  append(10, change('web', [service({ app: 'web' }), pod('web-1')], { snapshot: whole }));
  append(20, change('all', [service({ tier: 'front' }, 'all'), pod('web-1')], { snapshot: whole }));
  append(30, change('web', [service({ app: 'web', v: '2' })]));
  const gone: Fact = { kind: 'pod', name: 'web-1', pod: null, node: null };
  append(40, change('all', [gone]));
  append(50, change('web', [gone]));
  const playback = new Playback(reader, 20);
  expect(labelsOf(playback.start)).toEqual([{ app: 'web', tier: 'front' }]);
  expect(labelsOf(playback.advance(30))).toEqual([{ app: 'web', tier: 'front', v: '2' }]);
  expect(labelsOf(playback.advance(40))).toEqual([{ app: 'web', v: '2' }]);
  expect(names(playback.advance(50))).toEqual(['-pods/web-1']);
});

test('a Pod is terminating since it was first seen so', () => {
  const deletion = (changes: readonly ObjectChange[]) =>
    changes.flatMap(
      ({ object }) => (object as { metadata: { deletionTimestamp?: string } }).metadata.deletionTimestamp,
    );
  append(1_000, change('web', [service({}), pod('web-1')], { snapshot: whole }));
  append(2_000, change('web', [pod('web-1', { terminating: true })]));
  append(5_000, change('web', [pod('web-1', { terminating: true, ready: false })]));
  const playback = new Playback(reader, 1_000);
  expect(deletion(playback.advance(2_000))).toEqual(['1970-01-01T00:00:02Z']);
  expect(deletion(playback.advance(5_000))).toEqual(['1970-01-01T00:00:02Z']);
});

test('a Service that was deleted during a gap goes once the others are there, a removed cluster with all of them', () => {
  append(10, change('web', [service({}), pod('web-1'), slice('web-a')], { snapshot: whole }));
  append(10, change('db', [service({}, 'db'), pod('db-1')], { snapshot: whole }));
  append(1_000, change('db', [service({}, 'db'), pod('db-1')], { snapshot: whole }), { afterLoss: true });
  append(300_000, { kind: 'clusterRemoved', cluster: 'c', epoch: 2 }, { key: 'c' });
  const playback = new Playback(reader, 20);
  expect(names(playback.advance(60_000)).filter((name) => name.startsWith('-'))).toEqual([]);
  const deleted = (changes: readonly ObjectChange[]) =>
    names(changes).filter((name) => /^-(services|pods|endpointslices)/.test(name));
  expect(deleted(playback.advance(200_000))).toEqual(['-services/web', '-pods/web-1', '-endpointslices/web-a']);
  expect(deleted(playback.advance(300_000))).toEqual(['-services/db', '-pods/db-1']);
});
