import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import { LeaseThreadClient, type LeaseThreadEvents, type LeaseThreadRequest } from './lease-thread.ts';

const group = { group: 'writer', member: 'a', ttlMs: 900, periodMs: 250, maxSilenceMs: 5_000 };

let clock: VirtualClock;
let threads: { readonly events: LeaseThreadEvents; readonly requests: LeaseThreadRequest[] }[];
let client: LeaseThreadClient;

beforeEach(() => {
  clock = new VirtualClock(0);
  threads = [];
  client = new LeaseThreadClient({
    start: (_, events) => {
      const requests: LeaseThreadRequest[] = [];
      threads.push({ events, requests });
      return { send: (request) => void requests.push(request), terminate() {} };
    },
    redis: { urls: ['redis://127.0.0.1'], fleet: 'f' },
    clock,
    logger: silentLogger,
  });
});

const isReady = async () => {
  const keepAlive = client.keepAlive(group);
  let ready = false;
  void keepAlive.ready.then(() => {
    ready = true;
  });
  await advance(clock, 0);
  return ready;
};

test('the thread is ready once it is connected, for groups that join before and after', async () => {
  expect(threads).toHaveLength(1);
  expect(await isReady()).toBe(false);
  threads[0]?.events.onMessage({ kind: 'ready' });
  expect(await isReady()).toBe(true);
});

test('a thread that fails is replaced, and the next one renews the same leases', async () => {
  client.keepAlive(group).hold(new Map([['0', 7]]));
  threads[0]?.events.onFailure(new Error('out of memory'));
  client.keepAlive({ ...group, group: 'reconciler' });
  await advance(clock, 1_000);
  expect(threads).toHaveLength(2);
  expect(threads[1]?.requests).toMatchObject([
    { kind: 'start', id: 0, options: { group: 'writer' } },
    { kind: 'hold', id: 0, leases: [['0', 7]] },
    { kind: 'start', id: 1, options: { group: 'reconciler' } },
    { kind: 'hold', id: 1, leases: [] },
  ]);
  expect(await isReady()).toBe(false);
  threads[1]?.events.onMessage({ kind: 'ready' });
  expect(await isReady()).toBe(true);
});
