import type { RawObject } from '@sluice/kubernetes';
import type { RemovalEvidence } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkClaims } from './check-claims.ts';
import { aPlan } from './testing/plans.ts';
import { forbidden, notFound } from './testing/scripted-cluster.ts';

const signal = new AbortController().signal;
/** By `resource namespace/name`. */
let stored: Map<string, RawObject>;
let asked: string[];

beforeEach(() => {
  stored = new Map();
  asked = [];
  store('services', 'web', { spec: { selector: { app: 'web' } } });
  store('pods', 'p', aPod());
  store('nodes', 'n', {});
});

function store(resource: string, name: string, object: object): void {
  const { metadata = {}, ...rest } = object as { metadata?: object };
  const namespace = resource === 'nodes' ? '' : 'shop';
  stored.set(`${resource} ${namespace}/${name}`, { metadata: { name, namespace, ...metadata }, ...rest });
}

function aPod({ uid = 'u', labels = { app: 'web' }, ready = 'True', phase = 'Running', deletionTimestamp = '' } = {}) {
  return {
    metadata: { uid, labels, ...(deletionTimestamp !== '' && { deletionTimestamp }) },
    spec: {},
    status: { phase, conditions: [{ type: 'Ready', status: ready }] },
  };
}

const cluster = {
  get: async (resource: string, namespace: string, name: string) => {
    asked.push(`${resource} ${name}`);
    const found = stored.get(`${resource} ${namespace}/${name}`);
    if (found === undefined) throw notFound;
    return found;
  },
};

const check = (...evidence: RemovalEvidence[]) =>
  checkClaims(aPlan([], { ready: { delta: -1, total: 1, evidence } }), cluster, (request) => request(), signal);

const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
const notReady: RemovalEvidence = { kind: 'readiness', name: 'p', uid: 'u' };

describe('speaks against a removal:', () => {
  test.each<[string, RemovalEvidence]>([
    ['Service web is there', { kind: 'service' }],
    ['Pod p is there, selected and ready', gone],
    ['Node n is there', { kind: 'node', name: 'n' }],
  ])('%s', async (text, claim) => {
    expect(await check(claim)).toEqual({ text, overtaken: false });
  });

  test('Endpoints web are there', async () => {
    store('services', 'web', { spec: {} });
    store('endpoints', 'web', {});
    expect(await check({ kind: 'endpoints' })).toEqual({ text: 'Endpoints web are there', overtaken: false });
  });

  test('one claim of several', async () => {
    expect(await check({ kind: 'pod', name: 'q', uid: 'v' }, gone)).toMatchObject({
      text: expect.stringContaining('Pod p'),
    });
  });

  test('a Pod that has become ready since, unless something else does', async () => {
    expect(await check(notReady)).toEqual({ text: 'Pod p is ready', overtaken: true });
    expect(await check(notReady, gone)).toMatchObject({ overtaken: false });
  });
});

describe('speaks not against it:', () => {
  test.each<[string, object]>([
    ['another Pod of its name', aPod({ uid: 'other' })],
    ['a Pod that is not selected', aPod({ labels: { app: 'db' } })],
    ['a Pod that is not ready', aPod({ ready: 'False' })],
    ['a Pod that ends', aPod({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['a Pod that has ended', aPod({ phase: 'Succeeded' })],
    ['a Pod of which nothing can be made', { status: { phase: 7 } }],
  ])('%s', async (_, pod) => {
    store('pods', 'p', pod);
    expect(await check(gone)).toBeUndefined();
  });

  test('a Pod, Node or Endpoints that are not there', async () => {
    stored.delete('pods shop/p');
    stored.delete('nodes /n');
    expect(await check(gone, notReady, { kind: 'node', name: 'n' })).toBeUndefined();
    store('services', 'web', { spec: {} });
    expect(await check({ kind: 'endpoints' })).toBeUndefined();
  });

  test('Endpoints of a Service that selects Pods now', async () => {
    store('endpoints', 'web', {});
    expect(await check({ kind: 'endpoints' })).toBeUndefined();
  });

  test.each<[string, object | undefined]>([
    ['gone', undefined],
    ['about to go', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('anything, where the Service is %s; then nothing else is asked', async (_, service) => {
    if (service === undefined) stored.clear();
    else store('services', 'web', service);
    expect(await check({ kind: 'service' }, gone)).toBeUndefined();
    expect(asked).toEqual(['services web']);
  });

  test('nothing, where there is no claim; then nobody is asked', async () => {
    expect(await check()).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

test('what may not be read is no answer', async () => {
  const failing = { get: () => Promise.reject(forbidden) };
  const plan = aPlan([], { ready: { delta: -1, total: 1, evidence: [gone] } });
  await expect(checkClaims(plan, failing, (request) => request(), signal)).rejects.toBe(forbidden);
});
