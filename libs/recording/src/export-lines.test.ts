import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Message } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportLines } from './export-lines.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const resourceVersions = { endpoints: '1', endpointslices: '1' };
const service = { kind: 'service', service: aService() } as const;
const pod = { kind: 'pod', name: 'web-1', pod: aPodNamed('web-1'), node: { zone: 'a' } } as const;
let root: string;
let reader: RecordingReader;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-lines-'));
  const recording = new RecordingDirectory(root, { version: '1', limits });
  const converter = new RecordConverter(silentLogger);
  const add = (message: Message, at: number, key = 'c/shop/web') => {
    const record = { key, id: '', headers: { traceparent }, payload: encodeMessage(message), message };
    recording.append([converter.convert('changes', record, at) ?? expect.unreachable()], at);
  };
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  recording.nameCluster('c', 'prod');
  add(change([service], 'watcher started', { snapshot }), 1_000);
  add(change([pod], 'Pod shop/web-1 became ready'), 1_000.25);
  for (let at = 2_000; at < 2_200; at++) add(change([pod], 'Pod shop/web-1 changed'), at);
  add({ kind: 'clusterRemoved', cluster: 'c', epoch: 2 }, 3_000, 'c');
  recording.close(3_000);
  reader = new RecordingReader(root);
});

afterEach(() => {
  reader.close();
  rmSync(root, { recursive: true });
});

function change(facts: Change['facts'], description: string, given: Partial<Change> = {}): Change {
  const key = { cluster: 'c', namespace: 'shop', service: 'web' };
  const causes = { first: [{ description, observedAt: 1 }], more: 0 };
  return { ...{ kind: 'change', key, stamp: { epoch: 1, sequence: 1 }, facts, causes, resourceVersions }, ...given };
}

function lines(format: 'jsonl' | 'otlp', given: { readonly from?: number; readonly isRedacted?: boolean } = {}) {
  const { from = 1_000, isRedacted = false } = given;
  let text = '';
  const exported = exportLines(reader, {
    ...{ period: { from, to: 3_000 }, isWanted: () => true, isRedacted, format, version: '1.2.3' },
    write: (line) => {
      text += line;
    },
  });
  expect(text).toMatch(/\n$/);
  return {
    exported,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
}

test('a line of JSON for each record, beginning with the state of the Services', () => {
  const { exported, lines: found } = lines('jsonl');
  expect(exported).toEqual({ services: 1, records: 203 });
  expect(found).toHaveLength(203);
  const common = { cluster: 'prod', clusterUid: 'c', namespace: 'shop', service: 'web', topic: 'changes', traceparent };
  expect(found.slice(0, 2)).toEqual([
    {
      ...{ ...common, time: '1970-01-01T00:00:01.000Z', kind: 'change', snapshot: true, objects: ['service'] },
      ...{ text: 'watcher started', message: expect.objectContaining({ kind: 'change', facts: [service] }) },
    },
    {
      ...{ ...common, time: '1970-01-01T00:00:01.000Z', kind: 'change', snapshot: false, objects: ['pod/web-1'] },
      ...{ text: 'Pod shop/web-1 became ready', message: expect.objectContaining({ facts: [pod] }) },
    },
  ]);
  expect(found.at(-1)).toMatchObject({ cluster: 'prod', kind: 'clusterRemoved' });
  expect(found.at(-1)).not.toHaveProperty('namespace');
  expect(lines('jsonl', { from: 2_150 }).lines.at(0)).toMatchObject({ snapshot: true, text: 'watcher started' });
});

test('a request of OTLP for each hundred records', () => {
  const { exported, lines: requests } = lines('otlp');
  expect(exported).toEqual({ services: 1, records: 203 });
  const records = requests.map(({ resourceLogs: [{ scopeLogs }] }) => scopeLogs[0].logRecords.length);
  expect(records).toEqual([100, 100, 3]);
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const [{ resource, scopeLogs }, ...others] = requests[0].resourceLogs;
  expect(others).toEqual([]);
  expect(resource).toEqual({ attributes: [text('k8s.cluster.name', 'prod'), text('k8s.cluster.uid', 'c')] });
  expect(scopeLogs[0].scope).toEqual({ name: 'sluice', version: '1.2.3' });
  expect(scopeLogs[0].logRecords[1]).toEqual({
    ...{ timeUnixNano: '1000250000', observedTimeUnixNano: '1000250000', severityNumber: 9, severityText: 'INFO' },
    ...{ eventName: 'sluice.change', body: { stringValue: 'Pod shop/web-1 became ready' } },
    attributes: [
      text('k8s.namespace.name', 'shop'),
      text('k8s.service.name', 'web'),
      text('k8s.pod.name', 'web-1'),
      text('sluice.topic', 'changes'),
      { key: 'sluice.objects', value: { arrayValue: { values: [{ stringValue: 'pod/web-1' }] } } },
    ],
    ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 },
  });
});

test.each(['jsonl', 'otlp'] as const)('%s is redacted', (format) => {
  const text = JSON.stringify(lines(format, { isRedacted: true }).lines);
  expect(text).toContain('pod-1');
  expect(text).not.toMatch(/shop|web|prod/);
});
