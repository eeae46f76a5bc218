import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Fact } from '@sluice/messages';
import { aService, aSlice } from '@sluice/model/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';
import { toNewRecord } from './records.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
let directory: string;
let recording: RecordingDirectory;
let reader: RecordingReader;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-outages-'));
  recording = new RecordingDirectory(directory, { version: '1', limits });
  reader = new RecordingReader(directory);
});

afterEach(() => {
  reader.close();
  recording.close(1e6);
  rmSync(directory, { recursive: true });
});

/** A slice with so many ready endpoints, beside one that is not ready; null: it is gone. */
function slice(name: string, ready: number | null): Fact {
  const endpoints = Array.from({ length: (ready ?? 0) + 1 }, (_, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: { ready: i > 0, serving: i > 0, terminating: false },
  }));
  return { kind: 'slice', name, uid: name, slice: ready === null ? null : aSlice(name, { endpoints }) };
}

interface At {
  readonly service?: string;
  /** Which part of a snapshot. */
  readonly part?: { readonly first: boolean; readonly last: boolean };
  readonly afterLoss?: boolean;
  readonly event?: string;
}

let sequence = 0;
function append(
  at: number,
  facts: readonly Fact[],
  { service = 'web', part, afterLoss = false, event }: At = {},
): void {
  const key = { cluster: 'c', namespace: 'shop', service };
  const causes = { first: event === undefined ? [] : [{ description: event, observedAt: at }], more: 0 };
  const snapshot = part && { ...part, initial: false, resourceVersions: { endpoints: '1', endpointslices: '1' } };
  const message: Change = {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts, causes },
    ...(snapshot && { snapshot }),
  };
  const record = { key: `c/shop/${service}`, id: '', headers: {}, payload: encodeMessage(message), message };
  recording.append(
    [toNewRecord('changes', record, at)].flatMap((one) => one ?? []),
    at,
    { afterLoss },
  );
}

const whole = { part: { first: true, last: true } };
const outages = (from = 0, to = 1e6) =>
  reader
    .outages({ from, to })
    .outages.map((one) => [one.key.split('/')[2], one.from, one.to, ...(one.isStartKnown ? [] : ['start unknown'])]);

test('a Service is out while no endpoint of any of its slices is ready', () => {
  append(10, [slice('a', 1), slice('b', 1)], whole);
  append(20, [slice('a', 0)]);
  expect(outages()).toEqual([]);
  append(30, [slice('b', null)]);
  expect(outages()).toEqual([['web', 30, null]]);
  append(40, [slice('a', 0)]);
  append(50, [slice('a', 1)]);
  append(60, [slice('a', 0)]);
  append(70, [slice('c', 2)]);
  expect(outages()).toEqual([
    ['web', 30, 50],
    ['web', 60, 70],
  ]);
  expect(outages(55, 1e6)).toEqual([['web', 60, 70]]);
  expect(outages(0, 55)).toEqual([['web', 30, 50]]);
});

test('one that was out before the recording has no known start', () => {
  append(10, [{ kind: 'service', service: aService() }], whole);
  append(20, [slice('a', 1)]);
  expect(outages()).toEqual([['web', 10, 20, 'start unknown']]);
});

test('the last event before it is named', () => {
  append(10, [slice('a', 1)], whole);
  append(15, [{ kind: 'pod', name: 'web-1', pod: null, node: null }], { event: 'Pod shop/web-1 deleted' });
  append(20, [slice('a', 0)], { event: 'EndpointSlice shop/a changed' });
  expect(reader.outages({ from: 0, to: 1e6 }).outages).toMatchObject([{ event: 'Pod shop/web-1 deleted' }]);
});

test('the parts of a snapshot are one', () => {
  append(10, [slice('a', 1)], whole);
  append(20, [{ kind: 'service', service: aService() }], { part: { first: true, last: false } });
  append(30, [slice('a', 1)], { part: { first: false, last: true } });
  append(10, [{ kind: 'service', service: aService() }], { service: 'db', part: { first: true, last: false } });
  append(40, [slice('b', 0)], { service: 'db', part: { first: false, last: true } });
  expect(outages()).toEqual([['db', 40, null, 'start unknown']]);
});

test('a deleted Service is not out', () => {
  append(10, [slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(30, [{ kind: 'service', service: null }]);
  append(40, [slice('a', null)]);
  expect(outages()).toEqual([['web', 20, 30]]);
});

test('outages continue over files', () => {
  append(10, [slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(10, [slice('a', 0)], { ...whole, service: 'db' });
  append(100, [slice('a', 0)], { ...whole, afterLoss: true });
  expect(outages()).toEqual([
    ['web', 20, null],
    ['db', 20, null, 'start unknown'],
  ]);
  append(110, [slice('a', 1)]);
  append(200, [slice('a', 1)], { ...whole, service: 'db', afterLoss: true });
  expect(outages()).toEqual([
    ['web', 20, 110],
    ['db', 20, 200, 'start unknown'],
  ]);
});
