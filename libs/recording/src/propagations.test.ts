import type { Change, Fact } from '@sluice/messages';
import type { Pod, Service } from '@sluice/model';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { RecordConverter } from './record-converter.ts';
import type { NewRecord } from './records.ts';

let converter: RecordConverter;
let sequence: number;

beforeEach(() => {
  converter = new RecordConverter(silentLogger);
  sequence = 0;
});

const resourceVersions = { endpoints: '1', endpointslices: '1' };
const whole = { first: true, last: true, initial: false, resourceVersions };

function convert(at: number, event: string, facts: readonly Fact[], isSnapshot = false): NewRecord | undefined {
  const key = { cluster: 'c', namespace: 'shop', service: 'web' };
  const message: Change = {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts, resourceVersions },
    ...{ causes: { first: [{ description: event, observedAt: at }], more: 0 } },
    ...(isSnapshot && { snapshot: whole }),
  };
  const record = { key: 'c/shop/web', id: '', headers: {}, payload: new Uint8Array(), message };
  return converter.convert('changes', record, at + 0.5);
}

/** What a Change ends. */
const observe = (at: number, event: string, ...facts: readonly Fact[]) => ended(convert(at, event, facts));
const observeSnapshot = (at: number, ...facts: readonly Fact[]) =>
  ended(convert(at, 'Service shop/web added', facts, true));

const ended = (record: NewRecord | undefined) =>
  (record?.propagations ?? []).map(({ place, pod, from, to, startedAt, endedAt, end, event }) => {
    return { place, pod, change: `${from} → ${to}`, ms: (endedAt ?? 0) - startedAt, end, event };
  });
const open = () => converter.open.map(({ pod, from, to, startedAt }) => [pod, `${from} → ${to}`, startedAt]);

const service = (given: Partial<Service> = {}): Fact => ({ kind: 'service', service: aService(given) });
const pod = (given: Partial<Pod> = {}, name = 'web-1'): Fact => ({
  ...{ kind: 'pod', name, pod: aPodNamed(name, given), node: { zone: 'a' } },
});
const gone = (name = 'web-1'): Fact => ({ kind: 'pod', name, pod: null, node: null });

type Shown = 'ready' | 'not ready' | 'terminating';

function slice(shown: Readonly<Record<string, Shown>>, name = 'web-abc'): Fact {
  const endpoints = Object.entries(shown).map(([pod, state]) => ({
    addresses: aPodNamed(pod).ips,
    conditions: { ready: state === 'ready', serving: state !== 'not ready', terminating: state === 'terminating' },
    targetRef: { kind: 'Pod', name: pod, namespace: 'shop' },
  }));
  const version = String(++sequence + 100);
  const object = aSlice(name, { endpoints });
  const metadata = { ...object.metadata, resourceVersion: version };
  return { kind: 'slice', name, uid: metadata.uid ?? '', slice: { ...object, metadata } };
}

const notReady = { ready: false };
const becameNotReady = 'Pod shop/web-1 became not ready';
const wasWritten = 'EndpointSlice shop/web-abc changed';

describe('a change of a Pod', () => {
  beforeEach(() => {
    expect(observeSnapshot(10, service(), pod(), slice({ 'web-1': 'ready' }))).toEqual([]);
    expect(open()).toEqual([]);
  });

  test('lasts until the slices show it', () => {
    expect(observe(20, becameNotReady, pod(notReady))).toEqual([]);
    expect(open()).toEqual([['web-1', 'ready → not ready', 20]]);
    expect(observe(27, wasWritten, slice({ 'web-1': 'not ready' }))).toEqual([
      { place: 'slices', pod: 'web-1', change: 'ready → not ready', ms: 7, end: 'written', event: becameNotReady },
    ]);
    expect(open()).toEqual([]);
  });

  test('is superseded by the next one', () => {
    observe(20, becameNotReady, pod(notReady));
    expect(observe(25, 'Pod shop/web-1 is terminating', pod({ ...notReady, terminating: true }))).toEqual([
      { place: 'slices', pod: 'web-1', change: 'ready → not ready', ms: 5, end: 'superseded', event: becameNotReady },
    ]);
    expect(open()).toEqual([['web-1', 'ready → terminating', 25]]);
    expect(observe(30, 'Pod shop/web-1 deleted', gone())).toHaveLength(1);
    expect(observe(33, wasWritten, slice({}))).toEqual([
      {
        place: 'slices',
        pod: 'web-1',
        change: 'ready → absent',
        ms: 3,
        end: 'written',
        event: 'Pod shop/web-1 deleted',
      },
    ]);
  });

  test('that is taken back before it is written is superseded', () => {
    observe(20, becameNotReady, pod(notReady));
    expect(observe(25, 'Pod shop/web-1 became ready', pod())).toMatchObject([{ ms: 5, end: 'superseded' }]);
    expect(open()).toEqual([]);
  });

  test('that arrives after its write took no time', () => {
    expect(observe(20, wasWritten, slice({ 'web-1': 'not ready' }))).toEqual([]);
    expect(observe(22, becameNotReady, pod(notReady))).toEqual([
      { place: 'slices', pod: 'web-1', change: 'ready → not ready', ms: 0, end: 'written', event: becameNotReady },
    ]);
  });

  test('is not ended by a write for other Pods', () => {
    observe(20, becameNotReady, pod(notReady));
    observe(21, 'Pod shop/web-2 added', pod({}, 'web-2'));
    expect(observe(24, wasWritten, slice({ 'web-1': 'ready', 'web-2': 'ready' }))).toMatchObject([{ pod: 'web-2' }]);
    expect(open()).toEqual([['web-1', 'ready → not ready', 20]]);
  });

  test('is complete once every slice shows it', () => {
    observe(12, wasWritten, slice({ 'web-1': 'ready' }, 'web-xyz'));
    observe(20, becameNotReady, pod(notReady));
    expect(observe(24, wasWritten, slice({ 'web-1': 'not ready' }))).toEqual([]);
    expect(observe(26, wasWritten, slice({ 'web-1': 'not ready' }, 'web-xyz'))).toMatchObject([
      { ms: 6, end: 'written' },
    ]);
  });

  test('that ends unobserved has no known end', () => {
    observe(20, becameNotReady, pod(notReady));
    const both = [service(), pod(notReady), slice({ 'web-1': 'not ready' })];
    expect(observeSnapshot(90, ...both)).toMatchObject([{ ms: 70, end: 'unobserved' }]);
  });
});

test('a wrong write lasts until it is repaired', () => {
  observeSnapshot(10, service(), pod(), slice({ 'web-1': 'ready' }));
  observe(20, wasWritten, slice({}));
  expect(open()).toEqual([['web-1', 'absent → ready', 20]]);
  expect(observe(26, wasWritten, slice({ 'web-1': 'ready' }))).toMatchObject([
    { change: 'absent → ready', ms: 6, end: 'written' },
  ]);
});

test('what differs when a Service is first seen began before', () => {
  const record = convert(10, '', [service(), pod(notReady), slice({ 'web-1': 'ready' })], true);
  expect(record?.propagations).toEqual([]);
  expect(converter.open).toMatchObject([{ isStartKnown: false, from: 'ready', to: 'not ready' }]);
});

test('a Service that publishes Pods that are not ready shows them as ready', () => {
  observeSnapshot(10, service({ publishNotReadyAddresses: true }), pod(), slice({ 'web-1': 'ready' }));
  observe(20, becameNotReady, pod(notReady));
  const object = { addresses: aPodNamed('web-1').ips, conditions: { ready: true, serving: false, terminating: false } };
  const shown = slice({ 'web-1': 'ready' });
  const endpoints = [{ ...object, targetRef: { kind: 'Pod', name: 'web-1' } }];
  const fact = shown.kind === 'slice' && shown.slice ? { ...shown, slice: { ...shown.slice, endpoints } } : shown;
  expect(observe(24, wasWritten, fact)).toMatchObject([{ change: 'ready → ready', ms: 4, end: 'written' }]);
});

test.each([
  ['has no selector', { selector: null }],
  ['is of type ExternalName', { type: 'ExternalName' }],
  ['is being deleted', { deleting: true }],
])('nothing is expected of a Service that %s', (_, given) => {
  observeSnapshot(10, service(), pod(), slice({ 'web-1': 'ready' }));
  observe(20, becameNotReady, pod(notReady));
  expect(observe(25, 'Service shop/web changed', service(given))).toMatchObject([{ ms: 5, end: 'superseded' }]);
  expect(open()).toEqual([]);
});

describe('Endpoints', () => {
  const endpoints = (isReady: boolean, annotations = {}): Fact => {
    const address = { ip: aPodNamed('web-1').ip, targetRef: { kind: 'Pod', name: 'web-1' } };
    const subsets = [isReady ? { addresses: [address] } : { notReadyAddresses: [address] }];
    const metadata = {
      name: 'web',
      namespace: 'shop',
      uid: 'e',
      resourceVersion: String(++sequence + 100),
      annotations,
    };
    return { kind: 'endpoints', uid: 'e', endpoints: { metadata, subsets } };
  };

  beforeEach(() => {
    observeSnapshot(10, service(), pod(), slice({ 'web-1': 'ready' }), endpoints(true));
    observe(1_000, becameNotReady, pod(notReady));
    observe(1_005, wasWritten, slice({ 'web-1': 'not ready' }));
  });

  test('are recorded if they differ for a second', () => {
    expect(observe(2_000, 'Endpoints shop/web changed', endpoints(false))).toEqual([
      {
        place: 'Endpoints',
        pod: 'web-1',
        change: 'ready → not ready',
        ms: 1_000,
        end: 'written',
        event: becameNotReady,
      },
    ]);
  });

  test('are not recorded if they follow at once', () => {
    expect(observe(1_999, 'Endpoints shop/web changed', endpoints(false))).toEqual([]);
  });

  test('with too many Pods are not compared', () => {
    expect(open()).toEqual([['web-1', 'ready → not ready', 1_000]]);
    const truncated = endpoints(true, { 'endpoints.kubernetes.io/over-capacity': 'truncated' });
    expect(observe(2_500, 'Endpoints shop/web changed', truncated)).toMatchObject([{ end: 'superseded', ms: 1_500 }]);
    observe(2_600, '', endpoints(false, { 'endpoints.kubernetes.io/over-capacity': 'truncated' }));
    expect(open()).toEqual([]);
  });

  test('that are deleted are not compared', () => {
    observe(2_500, 'Endpoints shop/web deleted', { kind: 'endpoints', uid: 'e', endpoints: null });
    expect(open()).toEqual([]);
  });
});

test('nothing is expected of a cluster that is no longer watched', () => {
  observeSnapshot(10, service(), pod(notReady), slice({ 'web-1': 'ready' }));
  const message = { kind: 'clusterRemoved', cluster: 'c', epoch: 2 } as const;
  converter.convert('changes', { key: 'c', id: '', headers: {}, payload: new Uint8Array(), message }, 20);
  expect(open()).toEqual([]);
});

test('a record that cannot be applied is recorded nevertheless', () => {
  observeSnapshot(10, service(), pod(), slice({ 'web-1': 'ready' }));
  const poisoned: Fact = {
    ...{ kind: 'pod', name: 'web-1', node: null },
    get pod(): never {
      throw new Error('poisoned');
    },
  };
  expect(convert(20, 'poisoned', [poisoned])?.text).toBe('poisoned');
  observe(30, becameNotReady, pod(notReady));
  expect(open()).toEqual([['web-1', 'ready → not ready', 30]]);
});
