import type { RawObject } from '@sluice/kubernetes';
import type { RemovalEvidence } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan } from '../testing/plans.ts';
import { forbidden, notFound } from '../testing/scripted-cluster.ts';
import { checkRemoval } from './check-removal.ts';

const signal = new AbortController().signal;
/** Keyed by `resource namespace/name`. */
let stored: Map<string, RawObject>;
let reads: string[];

beforeEach(() => {
  stored = new Map();
  reads = [];
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
    reads.push(`${resource} ${name}`);
    const found = stored.get(`${resource} ${namespace}/${name}`);
    if (found === undefined) throw notFound;
    return found;
  },
};

const decidedAt = Date.parse('2026-01-01T12:00:00.500Z');

const check = (...evidence: RemovalEvidence[]) =>
  checkRemoval(aPlan([], { decidedAt, ready: { delta: -1, total: 1, evidence } }), cluster, signal);

const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
const notReady: RemovalEvidence = { kind: 'readiness', name: 'p', uid: 'u' };

describe('contradicts a removal:', () => {
  test.each<[string, RemovalEvidence]>([
    ['Service web exists', { kind: 'service' }],
    ['Pod p exists, is selected and ready', gone],
    ['Node n exists', { kind: 'node', name: 'n' }],
  ])('%s', async (text, evidence) => {
    expect(await check(evidence)).toEqual({ text, overtaken: false });
  });

  test('Endpoints web exist', async () => {
    store('services', 'web', { spec: {} });
    store('endpoints', 'web', {});
    expect(await check({ kind: 'endpoints' })).toEqual({ text: 'Endpoints web exist', overtaken: false });
  });

  test('one of several pieces of evidence that is wrong', async () => {
    expect(await check({ kind: 'pod', name: 'q', uid: 'v' }, gone)).toMatchObject({
      text: expect.stringContaining('Pod p'),
    });
  });

  test('a Pod that has become ready since, unless other evidence is wrong', async () => {
    expect(await check(notReady)).toEqual({ text: 'Pod p is ready again', overtaken: true });
    expect(await check(notReady, gone)).toMatchObject({ overtaken: false });
  });
});

describe('an object that was created again', () => {
  const created = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });
  const objects: [string, RemovalEvidence, (at: string) => void][] = [
    ['Service web exists', { kind: 'service' }, (at) => store('services', 'web', { ...created(at), spec: {} })],
    ['Node n exists', { kind: 'node', name: 'n' }, (at) => store('nodes', 'n', created(at))],
    [
      'Endpoints web exist',
      { kind: 'endpoints' },
      (at) => {
        store('services', 'web', { spec: {} });
        store('endpoints', 'web', created(at));
      },
    ],
  ];

  test.each(objects)('after its deletion was known asks for another decision: %s', async (text, evidence, create) => {
    for (const at of ['2026-01-01T12:00:00Z', '2026-01-01T12:00:01Z', '2026-01-01T11:59:01Z']) {
      create(at);
      expect(await check(evidence), at).toEqual({ text, overtaken: true });
    }
  });

  test.each(objects)('long before contradicts the removal: %s', async (text, evidence, create) => {
    for (const at of ['2026-01-01T11:59:00Z', '2025-01-01T00:00:00Z']) {
      create(at);
      expect(await check(evidence), at).toEqual({ text, overtaken: false });
    }
  });

  test('at an unknown time contradicts the removal', async () => {
    expect(await check({ kind: 'node', name: 'n' })).toMatchObject({ overtaken: false });
  });

  test('does not hide that other evidence is wrong', async () => {
    store('nodes', 'n', created('2026-01-01T12:00:00Z'));
    expect(await check({ kind: 'node', name: 'n' }, gone)).toMatchObject({ overtaken: false });
  });
});

describe('an object that cannot be decoded exists, and contradicts a removal:', () => {
  test.each<[string, RemovalEvidence]>([
    ['evidence that the Pod is deleted', gone],
    ['evidence that the Pod is not ready', notReady],
  ])('%s', async (_, evidence) => {
    store('pods', 'p', { status: { phase: 7 } });
    const text = 'Pod p exists and cannot be decoded';
    expect(await check(evidence)).toMatchObject({ text });
  });

  test('evidence that the Service is deleted', async () => {
    store('services', 'web', { spec: { ports: 80 } });
    const text = 'Service web exists and cannot be decoded';
    expect(await check({ kind: 'service' }, gone)).toEqual({ text, overtaken: false });
  });
});

describe('does not contradict a removal:', () => {
  test.each<[string, object]>([
    ['another Pod with the same name', aPod({ uid: 'other' })],
    ['a Pod that is not selected', aPod({ labels: { app: 'db' } })],
    ['a Pod that is not ready', aPod({ ready: 'False' })],
    ['a terminating Pod', aPod({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['a terminated Pod', aPod({ phase: 'Succeeded' })],
  ])('%s', async (_, pod) => {
    store('pods', 'p', pod);
    expect(await check(gone)).toBeUndefined();
  });

  test('a Pod, Node or Endpoints that do not exist', async () => {
    stored.delete('pods shop/p');
    stored.delete('nodes /n');
    expect(await check(gone, notReady, { kind: 'node', name: 'n' })).toBeUndefined();
    store('services', 'web', { spec: {} });
    expect(await check({ kind: 'endpoints' })).toBeUndefined();
  });

  test('Endpoints of a Service that now has a selector', async () => {
    store('endpoints', 'web', {});
    expect(await check({ kind: 'endpoints' })).toBeUndefined();
  });

  test.each<[string, object | undefined]>([
    ['gone', undefined],
    ['terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('anything, if the Service is %s; nothing else is read', async (_, service) => {
    if (service === undefined) stored.clear();
    else store('services', 'web', service);
    expect(await check({ kind: 'service' }, gone)).toBeUndefined();
    expect(reads).toEqual(['services web']);
  });
});

test('a failed read is rethrown', async () => {
  const failing = { get: () => Promise.reject(forbidden) };
  const plan = aPlan([], { ready: { delta: -1, total: 1, evidence: [gone] } });
  await expect(checkRemoval(plan, failing, signal)).rejects.toBe(forbidden);
});
