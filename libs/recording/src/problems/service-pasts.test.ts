import type { Change, Fact } from '@sluice/messages';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { ServiceStates } from '@sluice/service-state';
import { beforeEach, expect, test } from 'vitest';
import { ServicePasts } from './service-pasts.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const resourceVersions = { endpoints: '1', endpointslices: '1' };
let states: ServiceStates;
let pasts: ServicePasts;
let sequence: number;

beforeEach(() => {
  states = new ServiceStates();
  pasts = new ServicePasts();
  sequence = 0;
});

/** What is known after these facts. Times are in seconds. */
function past(at: number, ...facts: readonly Fact[]) {
  const isFirst = sequence === 0;
  const message: Change = {
    ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts, causes: { first: [], more: 0 } },
    ...(isFirst && { resourceVersions, snapshot: { first: true, last: true, initial: !isCreated, resourceVersions } }),
  };
  const applied = states.apply('c/shop/web', message, at * 1_000);
  if (applied === undefined) throw new Error('not about a Service');
  return pasts.observe('c/shop/web', { ...applied, at: at * 1_000, isCreated: isFirst && isCreated });
}
let isCreated = true;

const service = (app = 'web'): Fact => ({ kind: 'service', service: aService({ selector: { app } }) });
function pod(name: string, state: 'ready' | 'not ready' | 'evicted' | 'terminated' | 'gone'): Fact {
  if (state === 'gone') return { kind: 'pod', name, pod: null, node: null };
  const disruption = state === 'evicted' ? 'EvictionByEvictionAPI' : '';
  const details = { owner: '', disruption, gracePeriodSeconds: 30, preStop: [], containers: [] };
  const given = { ready: state === 'ready', terminal: state === 'terminated', details };
  return { kind: 'pod', name, pod: aPodNamed(name, given), node: { zone: 'a' } };
}
function slice(ready: boolean): Fact {
  const endpoints = [{ addresses: ['10.0.0.1'], conditions: { ready } }];
  return { kind: 'slice', name: 'a', uid: 'a', slice: aSlice('a', { endpoints }) };
}

test('a Service that was just created has had no Pods, until one matches', () => {
  isCreated = true;
  expect(past(0, service())).toMatchObject({ pods: false, hasServed: false });
  expect(past(1, pod('web-1', 'not ready'), slice(false))).toMatchObject({ pods: true, hasServed: false });
  expect(past(60, pod('web-1', 'ready'), slice(true))).toMatchObject({ pods: true, hasServed: true });
  expect(past(90, pod('web-1', 'not ready'), slice(false))).toMatchObject({ pods: true, hasServed: true });
  expect(past(99, pod('web-1', 'gone'))).toMatchObject({ pods: true, hasServed: true });
});

test('of one that is there when the recording begins, nothing is known without Pods', () => {
  isCreated = false;
  expect(past(0, service())).toMatchObject({ pods: undefined, hasServed: true });
  expect(past(1, pod('web-1', 'not ready'))).toMatchObject({ pods: true, hasServed: true });
});

test.each([
  ['ScaledToZero', { pods: true, hasServed: false }],
  ['NoMatchingPods', { pods: true, hasServed: false }],
  ['NotStarted', { pods: true, hasServed: false }],
  ['NoReadyEndpoints', { pods: true, hasServed: true }],
])('after a restart, what a former recording knew with %s is known', (reason, expected) => {
  isCreated = false;
  pasts.restore({ problems: [{ key: 'c/shop/web', reason, from: 0 }], services: [] });
  expect(past(60, service(), pod('web-1', 'not ready'))).toMatchObject(expected);
});

test('after a restart, a Service still has the Pods that a former recording knew', () => {
  isCreated = false;
  pasts.restore({ problems: [{ key: 'c/shop/web', reason: 'ScaledToZero', from: 0 }], services: [] });
  expect(past(60, service())).toMatchObject({ pods: true });
});

test('after a restart, a Service without a problem had Pods that served', () => {
  isCreated = false;
  pasts.restore({ problems: [], services: ['c/shop/web'] });
  expect(past(60, service())).toMatchObject({ pods: true, hasServed: true });
});

test('a Service that is created had none, also if a former recording knew one of its name', () => {
  isCreated = true;
  pasts.restore({ problems: [], services: ['c/shop/web'] });
  expect(past(60, service())).toMatchObject({ pods: false, hasServed: false });
});

test('Pods after a while without any start again; those that replace others do not', () => {
  isCreated = true;
  past(0, service(), pod('web-1', 'ready'), slice(true));
  past(100, pod('web-1', 'gone'), slice(false));
  expect(past(110, pod('web-1', 'not ready'))).toMatchObject({ hasServed: true });
  past(200, pod('web-1', 'terminated'));
  expect(past(300, pod('web-2', 'not ready'))).toMatchObject({ hasServed: false });
  expect(past(310, pod('web-2', 'ready'), slice(true))).toMatchObject({ hasServed: true });
});

test('after a Job that is done, another one starts, also at once', () => {
  isCreated = true;
  const job = (name: string, given: Parameters<typeof aPodNamed>[1]): Fact => {
    const details = { owner: 'Job report', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [] };
    return { kind: 'pod', name, pod: aPodNamed(name, { ...given, details }), node: { zone: 'a' } };
  };
  past(0, service(), job('web-1', {}), slice(true));
  past(100, job('web-1', { terminal: true, ready: false }), slice(false));
  expect(past(101, job('web-2', { ready: false }))).toMatchObject({ hasServed: false });
});

test('Pods that were evicted are missed, and what replaces them too late is no new start', () => {
  isCreated = true;
  past(0, service(), pod('web-1', 'ready'), slice(true));
  past(10, pod('web-1', 'evicted'), slice(false));
  expect(past(20, pod('web-1', 'gone'))).toMatchObject({ pods: 'evicted' });
  expect(past(30, slice(false))).toMatchObject({ pods: 'evicted' });
  expect(past(900, pod('web-2', 'not ready'))).toMatchObject({ pods: true, hasServed: true });
});

test('another selector has had no Pods, and its Service has served', () => {
  isCreated = true;
  past(0, service(), pod('web-1', 'ready'), slice(true));
  expect(past(10, service('wbe'), pod('web-1', 'gone'), slice(false))).toMatchObject({ pods: false, hasServed: true });
  expect(past(20, service('web'), pod('web-1', 'ready'), slice(true))).toMatchObject({ pods: true });
});

test('a Service without a selector, and a cluster that was removed, have no past', () => {
  isCreated = false;
  past(0, service(), pod('web-1', 'ready'), slice(true));
  expect(past(1, { kind: 'service', service: aService({ selector: null }) })).toBeUndefined();
  past(2, service());
  pasts.remove('c/shop/web');
  expect(past(3, pod('web-1', 'gone'))).toMatchObject({ pods: undefined });
});
