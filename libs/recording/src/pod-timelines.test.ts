import { type Change, encodeMessage, type Fact } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { expect, test } from 'vitest';
import { podTimelines } from './pod-timelines.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const resourceVersions = { endpoints: '1', endpointslices: '1' };
const snapshot = { first: true, last: true, initial: true, resourceVersions };

let sequence = 0;
function record(receivedAt: number, ...facts: readonly Fact[]) {
  const isFirst = facts.some(({ kind }) => kind === 'service');
  const change: Change = {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts, causes: { first: [], more: 0 } },
    ...(isFirst && { snapshot }),
  };
  return { topic: 'changes', receivedAt, startsSnapshot: isFirst, payload: encodeMessage(change) } as const;
}

const web: Fact = { kind: 'service', service: aService() };
const details = { owner: 'ReplicaSet web-5d9', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [] };
const pod = (name: string, given: Parameters<typeof aPodNamed>[1] = {}): Fact => ({
  ...{ kind: 'pod', name, pod: aPodNamed(name, { details, ...given }), node: { zone: 'a' } },
});
const gone = (name: string): Fact => ({ kind: 'pod', name, pod: null, node: null });

const spans = (
  records: readonly ReturnType<typeof record>[],
  { from = 0, gaps = [] as { from: number; to: number }[] } = {},
) =>
  podTimelines('c/shop/web', records, { from, gaps }).map(({ pod: name, spans }) => [
    name,
    ...spans.map(({ from: start, to, state }) => `${start}-${to ?? ''} ${state}`),
  ]);

test('a Pod is not ready, ready and terminating, one after the other', () => {
  const records = [
    record(10, web, pod('web-1')),
    record(20, pod('web-2', { ready: false })),
    record(30, pod('web-2')),
    record(35, pod('web-2', { uid: 'same state' })),
    record(40, pod('web-1', { terminating: true })),
    record(50, gone('web-1')),
  ];
  expect(spans(records)).toEqual([
    ['web-1', '10-40 ready', '40-50 terminating'],
    ['web-2', '20-30 not ready', '30- ready'],
  ]);
  expect(podTimelines('c/shop/web', records, { from: 0, gaps: [] })[0]?.owner).toBe('ReplicaSet web-5d9');
});

test('a Pod that comes back under its name has no span between', () => {
  expect(spans([record(10, web, pod('db-0')), record(20, gone('db-0')), record(30, pod('db-0'))])).toEqual([
    ['db-0', '10-20 ready', '30- ready'],
  ]);
});

test('a period begins with how the Pods were', () => {
  const records = [record(10, web, pod('web-1'), pod('web-2')), record(20, gone('web-2')), record(40, gone('web-1'))];
  expect(spans(records, { from: 30 })).toEqual([['web-1', '30-40 ready']]);
});

test('how a Pod was during a gap is unknown', () => {
  const records = [record(10, web, pod('web-1')), record(60, web, pod('web-1', { ready: false }))];
  const gaps = [
    { from: 20, to: 30 },
    { from: 40, to: 60 },
  ];
  expect(spans(records, { gaps })).toEqual([
    ['web-1', '10-20 ready', '20-30 unknown', '30-40 ready', '40-60 unknown', '60- not ready'],
  ]);
});

test('the Pods of a cluster that is removed end with it', () => {
  const removal = { kind: 'clusterRemoved', cluster: 'c', epoch: 2 } as const;
  const removed = { ...record(20), payload: encodeMessage(removal) };
  expect(spans([record(10, web, pod('web-1')), removed])).toEqual([['web-1', '10-20 ready']]);
});

test('a record that cannot be read is left out', () => {
  const broken = { ...record(20), payload: new TextEncoder().encode('{') };
  expect(spans([record(10, web, pod('web-1')), broken, record(30, gone('web-1'))])).toEqual([['web-1', '10-30 ready']]);
});
