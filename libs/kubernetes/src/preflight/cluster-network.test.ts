import { printRange } from '@sluice/model';
import { seededRandom } from '@sluice/platform';
import { afterEach, expect, test } from 'vitest';
import { ListBudget } from '../index.ts';
import { connect, json, noAbort, startServer } from '../testing/fixtures.ts';
import { readClusterNetwork } from './cluster-network.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A response: the items of a list, an object, or a status. */
type Answers = Readonly<Record<string, readonly object[] | object | number>>;

const node = (name: string, podCIDRs: readonly string[], ...addresses: readonly object[]) => ({
  ...{ metadata: { name }, spec: { podCIDRs }, status: { addresses } },
});
const pod = (name: string, status: object, spec: object = {}) => ({
  ...{ metadata: { namespace: 'shop', name }, spec, status },
});

const answers: Answers = {
  '/api/v1/namespaces/kube-system': { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'uid' } },
  '/api/v1/nodes': [
    node('n1', ['10.0.0.0/24', 'fd00::/64'], { type: 'InternalIP', address: '192.168.0.1' }),
    node('n2', ['10.0.1.0/24', 'fd00:0:0:1::/64'], { type: 'Hostname', address: '192.168.0.2' }),
  ],
  '/apis/networking.k8s.io/v1/servicecidrs': { items: [{ spec: { cidrs: ['10.96.0.0/16', 'fd01::/112'] } }] },
  '/api/v1/pods': [
    pod('a', { podIP: '10.0.0.5', podIPs: [{ ip: '10.0.0.5' }, { ip: 'FD00::5' }] }),
    pod('b', { podIP: '10.0.0.6' }),
    pod('host', { podIP: '192.168.0.1' }, { hostNetwork: true }),
    pod('ended', { phase: 'Succeeded', podIP: '10.0.0.7' }),
    pod('new', { phase: 'Pending' }),
  ],
};

async function read(changed: Answers = {}, budget = new ListBudget(1024 ** 2)) {
  const server = await startServer(({ url }, response) => {
    const [path = '', query = ''] = url.split('?');
    const found = { ...answers, ...changed }[path] ?? 404;
    if (typeof found === 'number') return json(response, found, { kind: 'Status', code: found, message: 'refused' });
    if (!Array.isArray(found)) return json(response, 200, found);
    const at = Number(new URLSearchParams(query).get('continue') ?? 0);
    const next = at + 1 < found.length ? String(at + 1) : '';
    return json(response, 200, { items: found.slice(at, at + 1), metadata: { resourceVersion: '1', continue: next } });
  });
  const { connection, clock, close } = await connect(server.url);
  cleanups.push(server.close, close);
  const counts = { nodes: budget.begin('nodes'), pods: budget.begin('pods') };
  return readClusterNetwork('east', { connection, clock, random: seededRandom(1), counts }, noAbort);
}

const texts = (reading: Awaited<ReturnType<typeof read>>['podRanges']) =>
  'value' in reading ? reading.value.map((range) => `${printRange(range)} ${range.members}`) : reading.unread;

test('reads Nodes, Pods and ServiceCIDRs in pages, without Pods of the host network and those that ended', async () => {
  const found = await read();
  expect(found).toMatchObject({ name: 'east', identity: { value: 'uid' } });
  expect(texts(found.podRanges)).toEqual(['10.0.0.0/23 2', 'fd00::/63 2']);
  expect(texts(found.serviceRanges)).toEqual(['10.96.0.0/16 1', 'fd01::/112 1']);
  expect(found.nodeAddresses).toEqual({ value: [{ address: '192.168.0.1', user: 'n1' }] });
  expect(found.podAddresses).toEqual({
    value: [
      { address: '10.0.0.5', user: 'shop/a' },
      { address: 'fd00::5', user: 'shop/a' },
      { address: '10.0.0.6', user: 'shop/b' },
    ],
  });
});

test('reports what it may not read, and reads the rest', async () => {
  const found = await read({ '/api/v1/nodes': 403, '/api/v1/namespaces/kube-system': 403 });
  expect(found).toMatchObject({
    identity: { unread: 'missing: get namespace kube-system' },
    podRanges: { unread: 'missing: list nodes' },
    nodeAddresses: { unread: 'missing: list nodes' },
    podAddresses: { value: expect.any(Array) },
  });
});

test('Nodes without podCIDRs and a server without ServiceCIDRs are reported', async () => {
  const found = await read({
    '/api/v1/nodes': [{ metadata: { name: 'n1' } }],
    '/apis/networking.k8s.io/v1/servicecidrs': 404,
  });
  expect(found).toMatchObject({
    podRanges: { unread: expect.stringContaining('no spec.podCIDRs') },
    nodeAddresses: { value: [] },
    serviceRanges: { unread: 'not served by the API server' },
  });
});

test('more Pods than fit in memory are reported', async () => {
  const found = await read({}, new ListBudget(400));
  expect(found.podAddresses).toMatchObject({ unread: expect.stringContaining('too large') });
});

test('a cluster that does not answer is an error', async () => {
  await expect(read({ '/api/v1/pods': 503 })).rejects.toThrow('refused');
});
