import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Fact } from '@sluice/messages';
import { endpointSliceController, managedByLabel, type Pod, serviceNameLabel } from '@sluice/model';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeImpact } from './node-impact.ts';
import type { NodeQuery } from './queries.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
const everything: NodeQuery = { from: 0, to: 1e8, keys: '%', limit: 100 };
const resourceVersions = { endpoints: '1', endpointslices: '1' };
const whole = { first: true, last: true, initial: true, resourceVersions };
let directory: string;
let recording: RecordingDirectory;
let reader: RecordingReader;
let converter: RecordConverter;
let records: NewRecord[];
let sequence: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-nodes-'));
  recording = new RecordingDirectory(directory, { version: '1', limits });
  reader = new RecordingReader(directory);
  converter = new RecordConverter(silentLogger);
  records = [];
  sequence = 0;
});

afterEach(() => {
  reader.close();
  recording.close(1e8);
  rmSync(directory, { recursive: true });
});

/** A Change that these events caused, as TIME DESCRIPTION. */
function add(service: string, events: readonly string[], facts: readonly Fact[], given: Partial<Change> = {}): void {
  const first = events.map((event) => {
    const [at, ...description] = event.split(' ');
    return { observedAt: Number(at), description: description.join(' ') };
  });
  const key = { cluster: 'c', namespace: 'shop', service };
  const stamp = { epoch: 1, sequence: ++sequence };
  const causes = { first, more: 0 };
  const message: Change = { kind: 'change', key, stamp, facts, causes, resourceVersions, ...given };
  const record = { key: `c/shop/${service}`, id: '', headers: {}, payload: encodeMessage(message), message };
  // Received some milliseconds later than observed.
  records.push(converter.convert('changes', record, Number(first.at(-1)?.observedAt) + 5) ?? expect.unreachable());
}

const details = { owner: 'ReplicaSet web-5d9', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [] };

/** On `n1` by default. `condition`: of its Node; null: there is none. */
function pod(name: string, given: Partial<Pod> = {}, condition: string | null = ''): Fact {
  const node = condition === null ? null : { zone: 'a', ...(condition && { condition }) };
  return { kind: 'pod', name, pod: aPodNamed(name, { nodeName: 'n1', details, ...given }), node };
}

const gone = (name: string): Fact => ({ kind: 'pod', name, pod: null, node: null });

/** The slice of a Service; `not-` precedes the names of Pods that are not ready. */
function slice(service: string, ...pods: readonly string[]): Fact {
  const endpoints = pods.map((text) => {
    const ready = !text.startsWith('not-');
    const name = text.replace('not-', '');
    const conditions = { ready, serving: ready, terminating: false };
    return { addresses: ['10.1.0.1'], conditions, targetRef: { kind: 'Pod', name, uid: `uid-${name}` } };
  });
  const labels = { [serviceNameLabel]: service, [managedByLabel]: endpointSliceController };
  const name = `${service}-slice`;
  const metadata = { name, namespace: 'shop', uid: name, resourceVersion: String(++sequence), labels };
  return { kind: 'slice', name, uid: name, slice: aSlice(name, { metadata, endpoints }) };
}

/** `cart` has two of its three Pods on `n1`, `pay` its only one. */
function start(): void {
  const cart = [pod('cart-1'), pod('cart-2'), pod('cart-3', { nodeName: 'n2' })];
  add(
    'cart',
    ['0 started'],
    [{ kind: 'service', service: aService({ name: 'cart' }) }, ...cart, slice('cart', 'cart-1', 'cart-2', 'cart-3')],
    { snapshot: whole },
  );
  add(
    'pay',
    ['0 started'],
    [{ kind: 'service', service: aService({ name: 'pay' }) }, pod('pay-1'), slice('pay', 'pay-1')],
    { snapshot: whole },
  );
}

const found = (query: Partial<NodeQuery> = {}) => {
  recording.append(records, 1e6);
  records = [];
  return reader.nodeDisruptions({ ...everything, ...query });
};

const of = (onNode: number, pods: number) => ({ isStartKnown: true, pods, onNode, shown: onNode });

const lost = 'not ready (NodeStatusUnknown)';

test('a lost Node', () => {
  start();
  const tainted = `${lost}, taint node.kubernetes.io/unreachable:NoExecute`;
  // The watch of the slices is ahead, and both events of the Node reach this Service at once.
  add('pay', ['4995 EndpointSlice shop/pay changed'], [slice('pay', 'not-pay-1')]);
  add('cart', [`5000 Node n1 became ${lost}`], [pod('cart-1', {}, lost), pod('cart-2', {}, lost)]);
  add('cart', ['5010 Pod shop/cart-1 became not ready'], [pod('cart-1', { ready: false }, lost)]);
  add('cart', ['5100 EndpointSlice shop/cart changed'], [slice('cart', 'not-cart-1', 'cart-2', 'cart-3')]);
  add('cart', [`6000 Node n1 is ${tainted}`], [pod('cart-1', { ready: false }, tainted), pod('cart-2', {}, tainted)]);
  add('pay', [`5000 Node n1 became ${lost}`, `6000 Node n1 is ${tainted}`], [pod('pay-1', { ready: false }, tainted)]);
  add('pay', ['9000 Node n1 became ready'], [pod('pay-1', { ready: false })]);
  add('cart', ['9000 Node n1 became ready'], [pod('cart-1', { ready: false }), pod('cart-2')]);
  add('pay', ['9500 Pod shop/pay-1 became ready'], [pod('pay-1')]);
  add('pay', ['9600 EndpointSlice shop/pay changed'], [slice('pay', 'pay-1')]);
  const none = { deleted: [], replaced: 0 };
  expect(found({ node: 'n1' })).toEqual({
    isKnown: true,
    disruptions: [
      {
        ...{ cluster: 'c', node: 'n1', from: 5_000, to: 9_000, isDeleted: false },
        events: [
          { at: 5_000, text: `became ${lost}` },
          { at: 6_000, text: `is ${tainted}` },
          { at: 9_000, text: 'became ready' },
        ],
        services: [
          { ...{ key: 'c/shop/cart', ...of(2, 3), leftAfterMs: [100] }, ...none, outages: [] },
          {
            ...{ key: 'c/shop/pay', ...of(1, 1), leftAfterMs: [0], ...none },
            outages: [{ from: 5_000, to: 9_605 }],
          },
        ],
      },
    ],
    unreadable: [],
  });
});

test('a drained Node', () => {
  start();
  const cordoned = 'unschedulable';
  add('cart', ['5000 Node n1 is unschedulable'], [pod('cart-1', {}, cordoned), pod('cart-2', {}, cordoned)]);
  const evicted = { terminating: true, details: { ...details, disruption: 'EvictionByEvictionAPI' } };
  add('cart', ['8000 Pod shop/cart-1 is terminating'], [pod('cart-1', evicted, cordoned)]);
  add('cart', ['8030 EndpointSlice shop/cart changed'], [slice('cart', 'not-cart-1', 'cart-2', 'cart-3')]);
  add('cart', ['8200 Pod shop/cart-1 deleted'], [gone('cart-1')]);
  const fresh = { nodeName: 'n2', ready: true };
  add('cart', ['8500 Pod shop/cart-4 added, ready'], [pod('cart-4', fresh)]);
  // Of a rollout later, and of another controller.
  const other = { ...fresh, details: { ...details, owner: 'ReplicaSet web-6f1' } };
  add('cart', ['8600 Pod shop/cart-5 added, ready'], [pod('cart-5', fresh), pod('cart-6', other)]);
  const [drained] = found().disruptions;
  expect(drained).toMatchObject({ from: 5_000, to: null, events: [{ text: 'is unschedulable' }] });
  expect(drained?.services).toEqual([
    {
      ...{ key: 'c/shop/cart', ...of(2, 3), leftAfterMs: [30], replaced: 1, outages: [] },
      deleted: [{ pod: 'cart-1', at: 8_000, reason: 'EvictionByEvictionAPI' }],
    },
  ]);
});

test('a Node that is deleted, and its Pods after it', () => {
  start();
  add('pay', ['5000 Node n1 deleted'], [pod('pay-1', {}, null)]);
  add('pay', ['5040 EndpointSlice shop/pay changed'], [slice('pay')]);
  add('pay', ['60000 Pod shop/pay-1 deleted'], [gone('pay-1')]);
  add('pay', ['70000 Node n1 added'], [pod('pay-2', {}, lost)]);
  const [deleted, ...others] = found().disruptions;
  expect(deleted).toMatchObject({ from: 5_000, to: 5_000, isDeleted: true, events: [{ text: 'deleted' }] });
  expect(deleted?.services).toMatchObject([
    { leftAfterMs: [40], deleted: [{ pod: 'pay-1', at: 60_000, reason: '' }], outages: [{ from: 5_045, to: null }] },
  ]);
  expect(others).toMatchObject([{ from: 70_000, to: null, isDeleted: false }]);
});

test('a Pod that slices still show as ready has not left', () => {
  start();
  add('pay', [`5000 Node n1 became ${lost}`], [pod('pay-1', {}, lost)]);
  expect(found().disruptions[0]?.services).toMatchObject([{ shown: 1, leftAfterMs: [], deleted: [], outages: [] }]);
});

test('disruptions are those of a Node, a period and a Service', () => {
  start();
  const other = (condition = '') => pod('cart-3', { nodeName: 'n10' }, condition);
  for (const at of [1e4, 2e4, 3e4]) {
    add('cart', [`${at} Node n1 became ${lost}`], [pod('cart-1', {}, lost)]);
    add('cart', [`${at + 1} Node n10 is unschedulable`], [other('unschedulable')]);
    // The recovery of the other one is not recorded: it had no Pods then.
    add('cart', [`${at + 5} Node n1 became ready`], [pod('cart-1')]);
  }
  add('cart', ['40000 Node n1 moved to zone b'], [pod('cart-1')]);
  const starts = (query: Partial<NodeQuery>) =>
    found(query).disruptions.map(({ node, from, to }) => `${node} ${from}-${to ?? ''}`);
  expect(starts({})).toEqual([
    ...['n1 10000-10005', 'n10 10001-', 'n1 20000-20005', 'n10 20001-', 'n1 30000-30005', 'n10 30001-'],
  ]);
  expect(starts({ node: 'n1' })).toEqual(['n1 10000-10005', 'n1 20000-20005', 'n1 30000-30005']);
  expect(starts({ node: 'n1', limit: 1 })).toEqual(['n1 30000-30005']);
  expect(starts({ node: 'n1', from: 20_003, to: 29_000 })).toEqual(['n1 20000-20005']);
  expect(starts({ node: 'n1', from: 20_003, to: 20_006 }), 'it continues then').toEqual(['n1 20000-']);
  expect(starts({ keys: 'c/%/pay' })).toEqual([]);
  expect(found({ node: 'n1', keys: 'd/%/%' })).toMatchObject({ isKnown: true, disruptions: [] });
  expect(found({ node: 'n1', from: 50_000 })).toMatchObject({ isKnown: true, disruptions: [] });
  for (const node of ['n', 'n1 became', '']) expect(found({ node }), node).toMatchObject({ isKnown: false });
});

test('a Service that is created just before', () => {
  const pay = (...facts: readonly Fact[]) => [
    { kind: 'service', service: aService({ name: 'pay' }) } as const,
    ...facts,
  ];
  add('pay', ['4500 started'], pay(), { snapshot: { ...whole, initial: false } });
  add('pay', ['4600 Pod shop/pay-1 added, ready'], [pod('pay-1')]);
  add('pay', ['4700 EndpointSlice shop/pay added'], [slice('pay', 'pay-1')]);
  add('pay', [`5000 Node n1 became ${lost}`], [pod('pay-1', {}, lost)]);
  add('pay', ['5020 EndpointSlice shop/pay changed'], [slice('pay', 'not-pay-1')]);
  expect(found().disruptions[0]?.services).toMatchObject([{ pods: 1, onNode: 1, shown: 1, leftAfterMs: [20] }]);
});

test('without its records from before, how a Service was at the start is unknown', () => {
  start();
  add('pay', [`5000 Node n1 became ${lost}`], [pod('pay-1', {}, lost)]);
  const service: Fact = { kind: 'service', service: aService({ name: 'pay' }) };
  const again = { snapshot: { ...whole, initial: false } };
  add('pay', ['6000 resync'], [service, pod('pay-1', {}, lost), slice('pay', 'pay-1')], again);
  expect(found().disruptions[0]?.services).toMatchObject([of(1, 1)]);
  const disruption = { key: 'c/shop/pay', node: 'n1', at: 5_000, until: 9_000 };
  for (const since of [4_000, 7_000]) {
    const read = reader.records(disruption.key, { since, until: 9_000, records: 1_000 });
    expect(nodeImpact(disruption, read.records).isStartKnown, String(since)).toBe(since === 4_000);
  }
  expect(nodeImpact(disruption, []).isStartKnown).toBe(false);
});

test('a Node with Pods of more Services than are read at once', () => {
  const services = Array.from({ length: 1_100 }, (_, i) => `svc-${i}`);
  for (const service of services) add(service, [`5000 Node n1 became ${lost}`], [pod(`${service}-1`, {}, lost)]);
  const { disruptions } = found({ node: 'n1' });
  expect(disruptions.map(({ from, services }) => [from, services.length])).toEqual([[5_000, services.length]]);
});
