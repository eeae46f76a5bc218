import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Fact, type Message } from '@sluice/messages';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RecordConverter } from '../record-converter.ts';
import { RecordingDirectory } from '../recording-directory.ts';
import { RecordingReader } from '../recording-reader.ts';
import { outagesOf } from './outages-of.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
let directory: string;
let converter: RecordConverter;
let recording: RecordingDirectory;
let reader: RecordingReader;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-problems-'));
  recording = new RecordingDirectory(directory, { version: '1', limits });
  reader = new RecordingReader(directory);
  converter = new RecordConverter(silentLogger);
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
  /** Which part of a snapshot, by default of the watcher's first. */
  readonly part?: { readonly first: boolean; readonly last: boolean; readonly initial?: boolean };
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
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const snapshot = part && { initial: true, ...part, resourceVersions };
  const message: Change = {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts, causes, resourceVersions },
    ...(snapshot && { snapshot }),
  };
  const record = { key: `c/shop/${service}`, id: '', headers: {}, payload: encodeMessage(message), message };
  const added = converter.convert('changes', record, at);
  recording.append(added === undefined ? [] : [added], at, { afterLoss });
}

const web: Fact = { kind: 'service', service: aService() };
const whole = { part: { first: true, last: true } };
const found = (from = 0, to = 1e6) => outagesOf(reader.problems({ from: 0, to, isOpen: false }).problems, { from, to });
const outages = (from = 0, to = 1e6) =>
  found(from, to).map((one) => [
    one.key.split('/')[2],
    one.from,
    one.to,
    ...(one.isStartKnown ? [] : ['start unknown']),
  ]);

test('a Service is out while no endpoint of any of its slices is ready', () => {
  append(10, [web, slice('a', 1), slice('b', 1)], whole);
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
  append(10, [web], whole);
  append(20, [slice('a', 1)]);
  expect(outages()).toEqual([['web', 10, 20, 'start unknown']]);
});

test('the last event before it is named', () => {
  append(10, [web, slice('a', 1)], whole);
  append(15, [{ kind: 'pod', name: 'web-1', pod: null, node: null }], { event: 'Pod shop/web-1 deleted' });
  append(20, [slice('a', 0)], { event: 'EndpointSlice shop/a changed' });
  expect(found()).toMatchObject([{ event: 'Pod shop/web-1 deleted' }]);
});

test('the event that the slices show is named', () => {
  const pod = (name: string, ready: boolean): Fact => ({
    ...{ kind: 'pod', name, pod: aPodNamed(name, { ready }), node: { zone: 'a' } },
  });
  const shown = (ready: boolean): Fact => {
    const conditions = { ready, serving: ready, terminating: false };
    const targetRef = { kind: 'Pod', name: 'web-1' };
    const endpoints = [{ addresses: aPodNamed('web-1').ips, conditions, targetRef }];
    return { kind: 'slice', name: 'a', uid: 'a', slice: aSlice('a', { endpoints }) };
  };
  append(10, [web, pod('web-1', true), shown(true)], whole);
  append(15, [pod('web-1', false)], { event: 'Pod shop/web-1 became not ready' });
  append(16, [pod('web-2', false)], { event: 'Pod shop/web-2 added' });
  append(20, [shown(false)], { event: 'EndpointSlice shop/a changed' });
  expect(found()).toMatchObject([{ event: 'Pod shop/web-1 became not ready' }]);
});

test('the parts of a snapshot are one', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [web], { part: { first: true, last: false } });
  append(30, [slice('a', 1)], { part: { first: false, last: true } });
  append(10, [web], { service: 'db', part: { first: true, last: false } });
  append(40, [slice('b', 0)], { service: 'db', part: { first: false, last: true } });
  expect(outages()).toEqual([['db', 40, null, 'start unknown']]);
});

test('a deleted Service is not out', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(30, [{ kind: 'service', service: null }]);
  append(40, [slice('a', null)]);
  expect(outages()).toEqual([['web', 20, 30]]);
});

test('a Service without a selector is out once slices that were watched are gone, and not if there were none', () => {
  const custom: Fact = { kind: 'service', service: aService({ selector: null }) };
  append(10, [custom], { ...whole, service: 'kubernetes' });
  append(15, [{ kind: 'service', service: aService({ selector: null, labels: { a: 'b' } }) }], {
    service: 'kubernetes',
  });
  append(20, [custom, slice('a', 1)], whole);
  const endpoints: Fact = { kind: 'endpoints', endpoints: null, uid: 'e' };
  append(30, [endpoints], { event: 'Endpoints shop/web deleted' });
  append(40, [slice('a', null)]);
  expect(outages()).toEqual([['web', 40, null]]);
  expect(found()).toMatchObject([{ event: 'Endpoints shop/web deleted' }]);
});

test('a Service that is created is out until it has a ready endpoint, because it was created', () => {
  append(10, [web], { part: { ...whole.part, initial: false }, event: 'Service shop/web added' });
  append(20, [slice('a', 1)]);
  expect(outages()).toEqual([['web', 10, 20]]);
  expect(found()).toMatchObject([{ event: 'Service shop/web added' }]);
});

test('outages continue over files', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(10, [web, slice('a', 0)], { ...whole, service: 'db' });
  append(100, [web, slice('a', 0)], { ...whole, afterLoss: true });
  expect(outages()).toEqual([
    ['web', 20, null],
    ['db', 20, null, 'start unknown'],
  ]);
  append(110, [slice('a', 1)]);
  append(200, [web, slice('a', 1)], { ...whole, service: 'db', afterLoss: true });
  expect(outages()).toEqual([
    ['web', 20, 110],
    ['db', 20, 200, 'start unknown'],
  ]);
});

test('the outage of a Service that was deleted while nothing was recorded ends there', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(100_000, [web, slice('a', 1)], { ...whole, service: 'db', afterLoss: true });
  expect(outages()).toEqual([['web', 20, null]]);
  append(160_001, [slice('a', 2)], { service: 'db' });
  expect(outages()).toEqual([['web', 20, 20]]);
});

const problems = (from = 0, to = 1e6, isOpen = false) =>
  reader.problems({ from, to, isOpen }).problems.map(({ reason, from, to }) => [reason, from, to]);

test('each problem of a Service begins and ends by itself', () => {
  const selector = { app: 'web' };
  append(
    10,
    [{ kind: 'service', service: aService({ selector }) }, slice('a', 1), slice('b', 1), slice('c', 1)],
    whole,
  );
  append(20, [slice('a', 0)]);
  append(30, [slice('b', 0), slice('c', 0)]);
  append(40, [{ kind: 'pod', name: 'web-1', pod: aPodNamed('web-1', { ready: false }), node: null }]);
  append(50, [slice('b', null), slice('c', null)]);
  expect(problems()).toEqual([
    ['FragmentedSlices', 10, 50],
    ['NoMatchingPods', 30, 40],
    ['NoReadyEndpoints', 40, null],
  ]);
  expect(problems(45, 1e6)).toEqual([
    ['FragmentedSlices', 10, 50],
    ['NoReadyEndpoints', 40, null],
  ]);
  expect(outages()).toEqual([['web', 30, null]]);
});

test('slices that remain without their Service are orphaned until they are gone', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [{ kind: 'service', service: null }]);
  append(30, [slice('a', null)]);
  append(40, [slice('b', 1)], { ...whole, service: 'old' });
  expect(problems()).toEqual([
    ['OrphanedSlices', 20, 30],
    ['OrphanedSlices', 40, null],
  ]);
});

test('open problems are those that continue, also over files', () => {
  append(10, [web, slice('a', 0)], whole);
  append(20, [web, slice('a', 0)], { ...whole, service: 'db' });
  append(30, [slice('a', 1)], { service: 'db' });
  append(100, [web, slice('a', 0)], { ...whole, afterLoss: true });
  append(110, [web, slice('a', 0)], { ...whole, service: 'db' });
  expect(problems(0, 1e6, true)).toEqual([
    ['NoMatchingPods', 10, null],
    ['NoMatchingPods', 110, null],
  ]);
  append(120, [slice('a', 1)]);
  expect(problems(0, 1e6, true)).toEqual([['NoMatchingPods', 110, null]]);
});

test('writes by another field manager than before are counted by Service, also over files', () => {
  const by = (manager: string | undefined, name = 'a'): Fact =>
    ({
      ...slice(name, 1),
      ...(manager !== undefined && { manager }),
    }) as Fact;
  const count = (from = 0, to = 1e6, keys = '%/%/%') => reader.managerChanges({ from, to, keys }).services;
  append(10, [web, by('kcm')], whole);
  append(20, [by('kcm'), by('me', 'b')]);
  expect(count()).toEqual([]);
  append(30, [by('me')]);
  append(40, [by('kcm'), slice('b', null)], { afterLoss: true });
  append(50, [by(undefined), by('kcm', 'b')]);
  append(60, [by('me')]);
  expect(count()).toEqual([{ key: 'c/shop/web', changes: 3, firstAt: 30, before: 'me', after: 'kcm' }]);
  expect(count(35, 45)).toMatchObject([{ changes: 1, before: 'me', after: 'kcm' }]);
  expect(count(0, 1e6, '%/pay/%')).toEqual([]);
});

test('a take-over of several objects changes the manager of each once', () => {
  const by = (manager: string, name: string) => ({ ...slice(name, 1), manager }) as Fact;
  append(10, [web, by('kcm', 'a'), by('kcm', 'b'), by('kcm', 'c')], whole);
  append(20, [by('sluice', 'a'), by('sluice', 'b'), by('sluice', 'c')]);
  expect(reader.managerChanges({ from: 0, to: 1e6, keys: '%' }).services).toMatchObject([{ changes: 1 }]);
});

test('the problems of a cluster end when it is removed', () => {
  append(10, [web, slice('a', 0)], whole);
  const message: Message = { kind: 'clusterRemoved', cluster: 'c', epoch: 2 };
  const removal = { key: 'c', id: '', headers: {}, payload: encodeMessage(message), message };
  const added = converter.convert('changes', removal, 20);
  recording.append(added === undefined ? [] : [added], 20);
  expect(problems()).toEqual([['NoMatchingPods', 10, 20]]);
  expect(outages()).toEqual([['web', 10, 20, 'start unknown']]);
});

test('a new Service starts, and loses its Pods when its workload is scaled to zero', () => {
  const pod = (ready: boolean | null): Fact =>
    ready === null
      ? { kind: 'pod', name: 'web-1', pod: null, node: null }
      : { kind: 'pod', name: 'web-1', pod: aPodNamed('web-1', { ready }), node: { zone: 'a' } };
  append(10, [web], { part: { first: true, last: true, initial: false }, event: 'Service shop/web added' });
  append(20, [pod(false), slice('a', 0)]);
  append(30, [pod(true), slice('a', 1)]);
  append(40, [pod(false), slice('a', 0)]);
  append(50, [pod(null)]);
  append(60_000, [pod(false)]);
  expect(problems()).toEqual([
    ['NoMatchingPods', 10, 20],
    ['NotStarted', 20, 30],
    ['NoReadyEndpoints', 40, 50],
    ['ScaledToZero', 50, 60_000],
    ['NotStarted', 60_000, null],
  ]);
  expect(outages()).toEqual([
    ['web', 10, 30],
    ['web', 40, null],
  ]);
});

test('a recorder that has just started continues what the one before knew', () => {
  append(10, [web], { part: { first: true, last: true, initial: false }, event: 'Service shop/web added' });
  const { metadata, ...empty } = aSlice('a');
  const written: Fact = {
    kind: 'slice',
    name: 'a',
    uid: 'a',
    slice: { ...empty, metadata: { ...metadata, generation: 2 } },
  };
  append(20, [written]);
  converter = new RecordConverter(silentLogger);
  append(30, [web, written], { ...whole, afterLoss: true });
  expect(problems()).toEqual([['NoMatchingPods', 10, null]]);
});

test('what recovered while nothing was recorded has ended, also if it begins again later in the file', () => {
  append(10, [web, slice('a', 1)], whole);
  append(20, [slice('a', 0)]);
  append(50, [web, slice('a', 1)], { ...whole, afterLoss: true });
  append(60, [slice('a', 0)]);
  append(70, [slice('a', 1)]);
  expect(outages()).toEqual([
    ['web', 20, 50],
    ['web', 60, 70],
  ]);
  append(80, [slice('a', 0)]);
  append(100, [web, slice('a', 1)], { ...whole, afterLoss: true });
  append(110, [slice('a', 0)]);
  expect(outages(75)).toEqual([
    ['web', 80, 100],
    ['web', 110, null],
  ]);
});
