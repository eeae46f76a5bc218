import type { RawObject } from '@sluice/kubernetes';
import type { AdditionEvidence } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan } from '../testing/plans.ts';
import { forbidden, ScriptedCluster } from '../testing/scripted-cluster.ts';
import { checkAddition } from './check-addition.ts';

const signal = new AbortController().signal;
let cluster: ScriptedCluster;

beforeEach(() => {
  cluster = new ScriptedCluster();
  store('web', { spec: { selector: { app: 'web' } } });
  store('p', aPod());
});

function store(name: string, object: object): void {
  const { metadata, ...rest } = object as { metadata?: object };
  cluster.objects.set(name, { metadata: { name, namespace: 'shop', ...metadata }, ...rest } as RawObject);
}

const aPod = ({ uid = 'u', labels = { app: 'web' }, ip = '10.1.0.1' } = {}) => ({
  metadata: { uid, labels },
  spec: {},
  status: { phase: 'Running', podIP: ip, podIPs: [{ ip }, { ip: 'fd00::1' }], conditions: [] },
});

const fromPod: AdditionEvidence = { kind: 'pod', name: 'p', uid: 'u', address: '10.1.0.1' };
const mirrored: AdditionEvidence = { kind: 'endpoints', address: '10.1.0.1' };

const check = (evidence: readonly AdditionEvidence[]) => {
  const ready = { delta: 0, total: 1, added: { count: 1, evidence } };
  return checkAddition(aPlan([], { ready }), cluster, signal);
};

describe('confirms', () => {
  test.each([['10.1.0.1'], ['fd00::1']])('address %s of a Pod, ready or not', async (address) => {
    expect(await check([{ ...fromPod, address }])).toBeUndefined();
  });

  test.each([
    ['010.001.000.001', '10.1.0.1'],
    ['::ffff:10.1.0.1', '10.1.0.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['not-an-ip', '<nil>'],
  ])('the IP %s of a Pod, which is written as %s (C6, C7)', async (ip, address) => {
    store('p', aPod({ ip }));
    expect(await check([{ ...fromPod, address }])).toBeUndefined();
  });
});

describe('contradicts an addition:', () => {
  test.each<[string, object]>([
    ['Pod p does not exist', aPod({ uid: 'another' })],
    ['Pod p is not selected', aPod({ labels: { app: 'db' } })],
    ['Pod p does not have address 10.1.0.1', aPod({ ip: '10.1.0.2' })],
    ['Pod p cannot be decoded', { status: { phase: 7 } }],
  ])('%s', async (text, pod) => {
    store('p', pod);
    expect(await check([fromPod])).toEqual({ text, overtaken: false });
  });

  test('a Pod or Service that does not exist', async () => {
    cluster.objects.delete('p');
    expect(await check([fromPod])).toMatchObject({ text: 'Pod p does not exist' });
    cluster.objects.delete('web');
    expect(await check([fromPod])).toMatchObject({ text: 'Service web does not exist' });
  });

  test('one of several', async () => {
    expect(await check([fromPod, { ...fromPod, name: 'q' }])).toMatchObject({ text: 'Pod q does not exist' });
  });
});

describe('a mirrored address', () => {
  const endpoints = (ip: string, list = 'addresses') => ({ subsets: [{ [list]: [{ ip }] }] });
  const read = (object: object) => ({
    get: async (resource: string) => {
      const rest = resource === 'endpoints' ? object : { spec: {} };
      return { metadata: { name: 'web', namespace: 'shop' }, ...rest } as RawObject;
    },
  });
  const checkIn = (object: object) => {
    const ready = { delta: 0, total: 1, added: { count: 1, evidence: [mirrored] } };
    return checkAddition(aPlan([], { ready }), read(object), signal);
  };

  test.each(['addresses', 'notReadyAddresses'])('is confirmed by %s of the Endpoints', async (list) => {
    expect(await checkIn(endpoints('10.1.0.1', list))).toBeUndefined();
  });

  test('is confirmed in another form', async () => {
    expect(await checkIn(endpoints('010.001.0.1'))).toBeUndefined();
  });

  test('is contradicted if they do not have it', async () => {
    const text = 'Endpoints web do not have address 10.1.0.1';
    expect(await checkIn(endpoints('10.1.0.2'))).toEqual({ text, overtaken: false });
    expect(await checkIn({})).toEqual({ text, overtaken: false });
  });
});

test('an object that cannot be decoded confirms nothing', async () => {
  store('web', { spec: { ports: 80 } });
  expect(await check([fromPod])).toEqual({ text: 'Service web cannot be decoded', overtaken: false });
  const get = async (resource: string): Promise<RawObject> => ({
    metadata: { name: 'web', namespace: 'shop' },
    ...(resource === 'endpoints' ? { subsets: 7 } : { spec: {} }),
  });
  const ready = { delta: 0, total: 1, added: { count: 1, evidence: [mirrored] } };
  expect(await checkAddition(aPlan([], { ready }), { get }, signal)).toEqual({
    ...{ text: 'Endpoints web cannot be decoded', overtaken: false },
  });
});

test('an address may be in any subset of the Endpoints', async () => {
  const subsets = [{ addresses: [{ ip: '10.1.0.9' }] }, { addresses: [{ ip: '10.1.0.8' }, { ip: '10.1.0.1' }] }];
  const get = async (resource: string): Promise<RawObject> => ({
    metadata: { name: 'web', namespace: 'shop' },
    ...(resource === 'endpoints' ? { subsets } : { spec: {} }),
  });
  const ready = { delta: 0, total: 1, added: { count: 1, evidence: [mirrored] } };
  expect(await checkAddition(aPlan([], { ready }), { get }, signal)).toBeUndefined();
});

test('a failed read is rethrown', async () => {
  cluster.fails('get web', forbidden);
  await expect(check([fromPod])).rejects.toBe(forbidden);
});
