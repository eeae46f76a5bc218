import { ApiError, type ClusterReader, type ClusterWriter } from '@sluice/kubernetes';
import { VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { GuardedCluster } from './guarded-cluster.ts';

let clock: VirtualClock;
let identity: string;
let fails: boolean;
let asked: string[];
let replaced: string[];
let guarded: GuardedCluster;
const { signal } = new AbortController();
const object = { metadata: { name: 'web', namespace: 'shop' } };

beforeEach(() => {
  clock = new VirtualClock(0);
  [identity, fails, asked, replaced] = ['one', false, [], []];
  const answer = async (what: string) => {
    asked.push(what);
    if (fails) throw new ApiError('cut', { reaction: 'retry', status: 0, reason: 'ECONNRESET' });
    return { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  };
  const cluster: ClusterReader & ClusterWriter = {
    identity: async () => {
      asked.push('identity');
      return identity;
    },
    list: async () => {
      asked.push('list');
      return { items: [], resourceVersion: '1', continueToken: '' };
    },
    async *watch() {
      asked.push('watch');
      yield [];
    },
    get: async () => (await answer('get')) as never,
    create: () => answer('create'),
    update: () => answer('update'),
    delete: async () => void (await answer('delete')),
  };
  guarded = new GuardedCluster({ identity: 'one', cluster, clock, onReplaced: (found) => replaced.push(found) });
});

const create = () => guarded.create('endpoints', object, signal);

test('writes go through, and ask who answers only after a while', async () => {
  await create();
  await create();
  expect(asked).toEqual(['create', 'create']);
  clock.skipTo(31_000);
  await create();
  expect(asked.slice(2)).toEqual(['identity', 'create']);
});

test('after a cut connection the next write asks first, and is not sent to another cluster', async () => {
  fails = true;
  await expect(create()).rejects.toThrow('cut');
  [fails, identity] = [false, 'two'];
  for (const write of [
    create,
    () => guarded.update('endpoints', object, signal),
    () => guarded.delete('endpoints', 'shop', 'web', {}, signal),
    () => guarded.get('endpoints', 'shop', 'web', signal),
  ]) {
    await expect(write()).rejects.toMatchObject({ reason: 'ClusterReplaced', reaction: 'terminal' });
  }
  expect(asked).toEqual(['create', 'identity']);
  expect(replaced).toEqual(['two']);
});

test('each list and each watch asks first; the pages of a list do not', async () => {
  await guarded.list('pods', { limit: 1, continueToken: '' }, signal);
  await guarded.list('pods', { limit: 1, continueToken: 'next' }, signal);
  for await (const _ of guarded.watch('pods', '1', signal)) {
    // Nothing is in it.
  }
  expect(asked).toEqual(['identity', 'list', 'list', 'identity', 'watch']);
  identity = 'two';
  await expect(guarded.list('pods', { limit: 1, continueToken: '' }, signal)).rejects.toThrow('another one now');
});
