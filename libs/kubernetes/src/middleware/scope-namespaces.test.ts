import { beforeEach, expect, test } from 'vitest';
import type { ClusterReader, ClusterWriter, RawObject, WatchEvent } from '../cluster.ts';
import { scopeReader, scopeWriter } from './scope-namespaces.ts';

const { signal } = new AbortController();
const pod = (namespace: string): RawObject => ({ metadata: { namespace, name: 'web' } });
const node: RawObject = { metadata: { name: 'n1' } };

let sent: string[];
let cluster: ClusterReader & ClusterWriter;

beforeEach(() => {
  sent = [];
  const answer = async (namespace: string | undefined) => {
    sent.push(namespace ?? '');
    return { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  };
  cluster = {
    watchList: true,
    identity: async () => 'one',
    list: async (resource, { onItem }) => {
      const items = resource === 'nodes' ? [node] : [pod('shop'), pod('kube-system')];
      for (const item of items) onItem?.(item);
      return { items: onItem === undefined ? items : [], resourceVersion: '1', continueToken: '' };
    },
    async *watch() {
      yield [
        { type: 'ADDED', object: pod('kube-system') },
        { type: 'DELETED', object: pod('shop') },
        { type: 'BOOKMARK', resourceVersion: '2' },
      ];
    },
    get: async (_, namespace) => (await answer(namespace)) as never,
    create: (_, { metadata }) => answer(metadata.namespace),
    update: (_, { metadata }) => answer(metadata.namespace),
    delete: async (_, namespace) => void (await answer(namespace)),
  };
});

const namespaceOf = ({ metadata }: RawObject) => (metadata as { readonly namespace?: string }).namespace;

async function read(reader: ClusterReader) {
  const options = { limit: 10, continueToken: '' };
  const { items } = await reader.list('pods', options, signal);
  const streamed: RawObject[] = [];
  await reader.list('pods', { ...options, onItem: (item) => void streamed.push(item) }, signal);
  expect(streamed).toEqual(items);
  const events: WatchEvent[] = [];
  for await (const batch of reader.watch('pods', '1', signal)) events.push(...batch);
  const nodes = await reader.list('nodes', options, signal);
  expect(nodes.items).toEqual([node]);
  return {
    listed: items.map(namespaceOf),
    watched: events.map((event) => (event.type === 'BOOKMARK' ? event.type : namespaceOf(event.object))),
  };
}

test('a reader of some namespaces sees only their objects, all bookmarks and all Nodes', async () => {
  expect(await read(scopeReader(cluster, { only: ['kube-system'] }))).toEqual({
    listed: ['kube-system'],
    watched: ['kube-system', 'BOOKMARK'],
  });
  expect(await read(scopeReader(cluster, { except: ['kube-system'] }))).toEqual({
    listed: ['shop'],
    watched: ['shop', 'BOOKMARK'],
  });
});

test('a writer of some namespaces rejects requests for others for good', async () => {
  const writer = scopeWriter(cluster, { except: ['kube-system'] });
  const endpoints = (namespace: string) => ({ metadata: { namespace, name: 'web' } });
  const rejection = { kind: 'terminal', reason: 'NamespaceNotServed' };
  await expect(writer.create('endpoints', endpoints('kube-system'), signal)).rejects.toMatchObject(rejection);
  await expect(writer.update('endpoints', endpoints('kube-system'), signal)).rejects.toMatchObject(rejection);
  await expect(writer.delete('endpoints', 'kube-system', 'web', {}, signal)).rejects.toMatchObject(rejection);
  expect(sent).toEqual([]);
  await writer.create('endpoints', endpoints('shop'), signal);
  await writer.delete('endpoints', 'shop', 'web', {}, signal);
  expect(sent).toEqual(['shop', 'shop']);
});
