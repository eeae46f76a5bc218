import { VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { ApiError } from '../api-error.ts';
import type { ClusterReader, ClusterWriter } from '../cluster.ts';
import { chainReader, chainWriter } from '../middleware.ts';
import { IdentityGuard } from './identity-guard.ts';

let clock: VirtualClock;
let identity: string;
let fails: boolean;
let requests: string[];
let replaced: string[];
let reader: ClusterReader;
let writer: ClusterWriter;
const { signal } = new AbortController();
const object = { metadata: { name: 'web', namespace: 'shop' } };

beforeEach(() => {
  clock = new VirtualClock(0);
  [identity, fails, requests, replaced] = ['one', false, [], []];
  const answer = async (what: string) => {
    requests.push(what);
    if (fails) throw new ApiError('cut', { kind: 'retry', status: 0, reason: 'ECONNRESET' });
    return { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  };
  const cluster: ClusterReader & ClusterWriter = {
    watchList: true,
    identity: async () => {
      requests.push('identity');
      return identity;
    },
    list: async () => {
      requests.push('list');
      return { items: [], resourceVersion: '1', continueToken: '' };
    },
    async *watch() {
      requests.push('watch');
      yield [];
    },
    get: async () => (await answer('get')) as never,
    create: () => answer('create'),
    update: () => answer('update'),
    delete: async () => void (await answer('delete')),
  };
  const guard = new IdentityGuard({ identity: 'one', cluster, clock, onReplaced: (found) => replaced.push(found) });
  reader = chainReader(cluster, guard.middleware);
  writer = chainWriter(cluster, guard.middleware);
});

const create = () => writer.create('endpoints', object, signal);

test('writes check the identity again after 30 s', async () => {
  await create();
  await create();
  expect(requests).toEqual(['create', 'create']);
  clock.skipTo(31_000);
  await create();
  expect(requests.slice(2)).toEqual(['identity', 'create']);
});

test('after a broken connection the next write checks the identity and is not sent to another cluster', async () => {
  fails = true;
  await expect(create()).rejects.toThrow('cut');
  [fails, identity] = [false, 'two'];
  for (const write of [
    create,
    () => writer.update('endpoints', object, signal),
    () => writer.delete('endpoints', 'shop', 'web', {}, signal),
    () => writer.get('endpoints', 'shop', 'web', signal),
  ]) {
    await expect(write()).rejects.toMatchObject({ reason: 'ClusterReplaced', kind: 'terminal' });
  }
  expect(requests).toEqual(['create', 'identity']);
  expect(replaced).toEqual(['two']);
});

test('each list and watch checks the identity, but the further pages of a list do not', async () => {
  await reader.list('pods', { limit: 1, continueToken: '' }, signal);
  await reader.list('pods', { limit: 1, continueToken: 'next' }, signal);
  for await (const _ of reader.watch('pods', '1', signal)) {
    // The batch is empty.
  }
  expect(requests).toEqual(['identity', 'list', 'list', 'identity', 'watch']);
  identity = 'two';
  await expect(reader.list('pods', { limit: 1, continueToken: '' }, signal)).rejects.toThrow('another cluster answers');
});
