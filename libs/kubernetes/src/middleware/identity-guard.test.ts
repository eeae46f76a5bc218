import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { ApiError } from '../api-error.ts';
import type { ClusterReader, ClusterWriter } from '../cluster.ts';
import { chainReader, chainWriter, checkRequests } from '../middleware.ts';
import { IdentityGuard } from './identity-guard.ts';

let clock: VirtualClock;
let identity: string;
/** What requests other than those for the identity fail with. */
let failure: Error | undefined;
let identityFailure: Error | undefined;
let requests: string[];
/** Until then, updates wait for a connection. */
let queued: Promise<void>;
let replaced: string[];
let reader: ClusterReader;
let writer: ClusterWriter;
const { signal } = new AbortController();
const object = { metadata: { name: 'web', namespace: 'shop' } };

beforeEach(() => {
  clock = new VirtualClock(0);
  [identity, requests, replaced] = ['one', [], []];
  [failure, identityFailure, queued] = [undefined, undefined, Promise.resolve()];
  const answer = async (what: string) => {
    requests.push(what);
    if (failure !== undefined) throw failure;
    return { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  };
  const cluster: ClusterReader & ClusterWriter = {
    watchList: true,
    identity: async () => {
      requests.push('identity');
      if (identityFailure !== undefined) throw identityFailure;
      return identity;
    },
    list: async () => {
      requests.push('list');
      return { items: [], resourceVersion: '1', continueToken: '' };
    },
    async *watch() {
      requests.push('watch');
      yield [];
      if (failure !== undefined) throw failure;
    },
    get: async () => (await answer('get')) as never,
    create: () => answer('create'),
    update: async (_resource, _object, _signal, beforeSend) => {
      await queued;
      beforeSend?.();
      return answer('update');
    },
    delete: async () => void (await answer('delete')),
  };
  const guard = new IdentityGuard({ identity: 'one', cluster, clock, onReplaced: (found) => replaced.push(found) });
  reader = chainReader(cluster, guard.middleware);
  writer = chainWriter(cluster, checkRequests([guard]));
});

const cut = new ApiError('cut', { kind: 'retry', status: 0, reason: 'ECONNRESET' });
const unauthorized = new ApiError('who?', { kind: 'terminal', status: 401, reason: 'Unauthorized' });
const busy = new ApiError('busy', { kind: 'retry', status: 503, reason: 'ServiceUnavailable' });

const create = () => writer.create('endpoints', object, signal);

test('writes check the identity again after 30 s', async () => {
  await create();
  await create();
  expect(requests).toEqual(['create', 'create']);
  clock.skipTo(30_000);
  await create();
  expect(requests.slice(2)).toEqual(['create']);
  clock.skipTo(30_001);
  await create();
  await create();
  expect(requests.slice(3)).toEqual(['identity', 'create', 'create']);
});

test('after a broken connection the next write checks the identity and is not sent to another cluster', async () => {
  failure = cut;
  await expect(create()).rejects.toThrow('cut');
  [failure, identity] = [undefined, 'two'];
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

const read = async () => {
  for await (const _ of reader.watch('pods', '1', signal)) {
    // The batch is empty.
  }
};

test.each([
  ['a broken connection', true, cut],
  ['a rejected credential', true, unauthorized],
  ['an answer of an overloaded server', false, busy],
  ['an error that is no answer of a cluster', false, new TypeError('bug')],
])('after %s the next write checks the identity: %s', async (_, checks, error) => {
  failure = error;
  await expect(create()).rejects.toBe(error);
  failure = undefined;
  await create();
  expect(requests).toEqual(['create', ...(checks ? ['identity'] : []), 'create']);
});

test('after a watch that broke off the next write checks the identity', async () => {
  failure = cut;
  await expect(read()).rejects.toBe(cut);
  failure = undefined;
  await create();
  expect(requests.slice(-2)).toEqual(['identity', 'create']);
});

test('writes at the same time share one check', async () => {
  clock.skipTo(31_000);
  await Promise.all([create(), create(), create()]);
  expect(requests).toEqual(['identity', 'create', 'create', 'create']);
});

test('a check that fails fails the write, which is not sent, and the next write checks again', async () => {
  clock.skipTo(31_000);
  identityFailure = busy;
  await expect(create()).rejects.toBe(busy);
  identityFailure = undefined;
  await create();
  expect(requests).toEqual(['identity', 'identity', 'create']);
});

test('once another cluster has answered, every request is rejected without another check', async () => {
  identity = 'two';
  clock.skipTo(31_000);
  for (const request of [create, create, read, () => reader.list('pods', { limit: 1, continueToken: '' }, signal)]) {
    await expect(request()).rejects.toMatchObject({ reason: 'ClusterReplaced', kind: 'terminal', status: 0 });
  }
  expect(requests).toEqual(['identity']);
  expect(replaced).toEqual(['two']);
  // Whoever wants to know which cluster it is now may ask.
  expect(await reader.identity(signal)).toBe('two');
});

test('a write that waits for a connection is not sent once another request has lost its own', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  queued = promise;
  const waiting = writer.update('endpoints', object, signal);
  failure = cut;
  await expect(create()).rejects.toThrow('cut');
  failure = undefined;
  resolve();
  await expect(waiting).rejects.toMatchObject({ kind: 'retry', reason: 'IdentityNotVerified' });
  expect(requests).toEqual(['create']);
  await writer.update('endpoints', object, signal);
  expect(requests).toEqual(['create', 'identity', 'update']);
});
