import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type RedisServer, startRedis, startRedisSentinel } from '@sluice/local';
import { type Clock, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { Commit, Store } from '@sluice/store';
import { openRedis } from '@sluice/store/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Connections, documentedRights, SLUICE_PASSWORD, SLUICE_USER } from './redis-fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-redis-loss-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const scope = 'reconciler/1';
const fencedError = { code: 'FENCED' };

function commit(part: Partial<Commit> & { readonly value?: unknown }): Commit {
  const { value = 1, ...rest } = part;
  const checkpoint = { offset: 1, id: 'r1', streamId: 'log' };
  const entries = [{ key: 'c/ns/a', field: 'f', value }];
  return { scope, fencingToken: 1, expectedOffset: 1, checkpoint, entries, ...rest };
}

/** Claims the empty scope and commits offset 1 to it. */
async function begin(store: Store): Promise<void> {
  await store.claim(scope, 1);
  await store.commit(commit({ expectedOffset: 0 }));
}

describe('one Redis', () => {
  let server: RedisServer;
  let connections: Connections;

  beforeAll(async () => {
    server = await startRedis({ directory: join(root, 'one'), users: { [SLUICE_USER]: documentedRights() } });
    const user = { username: SLUICE_USER, password: SLUICE_PASSWORD };
    connections = new Connections({ urls: [server.url], ...user });
  });
  afterEach(() => connections.close());
  afterAll(() => server?.stop());

  async function admin(...command: readonly [string, ...string[]]): Promise<unknown> {
    const client = server.connect();
    const [name, ...args] = command;
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  test('after a kill, claims report possibly lost commits until the next commit', async () => {
    const { store } = await connections.open();
    await begin(store);
    expect((await store.claim(scope, 1)).intact).toBe(true);
    await server.persisted();
    await server.restart();
    const first = await store.claim(scope, 2);
    expect(first).toMatchObject({ intact: false, checkpoint: { offset: 1 } });
    expect(first.entries).toHaveLength(1);
    expect((await store.claim(scope, 3)).intact).toBe(false);
    await store.commit(commit({ fencingToken: 3 }));
    expect((await store.claim(scope, 4)).intact).toBe(true);
  });

  test.each<[string, 'meta' | 'view', string, string]>([
    ['a checkpoint that is not JSON', 'meta', 'checkpoint', '{"offset":'],
    ['a checkpoint of another shape', 'meta', 'checkpoint', '[1]'],
    ['an offset that is not a number', 'meta', 'offset', 'x'],
    ['an offset other than the one of the checkpoint', 'meta', 'offset', '7'],
    ['a fencing token that is not a number', 'meta', 'fencingToken', 'x'],
    ['an entry whose name is not JSON', 'view', 'not JSON', '1'],
    ['an entry whose name is no pair', 'view', '{"a":1}', '1'],
  ])('%s costs a resync: the next owner claims the scope and commits', async (_, part, field, value) => {
    const fleet = `sluice-unreadable-${performance.now()}`;
    const { store } = await connections.open({ fleet });
    await begin(store);
    await admin('HSET', `{${fleet}:${scope}}:${part}`, field, value);
    const next = (await connections.open({ fleet })).store;
    const claimed = await next.claim(scope, 2);
    if (field !== 'fencingToken') expect(claimed).toMatchObject({ checkpoint: null, intact: false });
    expect(claimed.entries).toEqual([{ key: 'c/ns/a', field: 'f', value: 1 }]);
    const expectedOffset = claimed.checkpoint?.offset ?? 0;
    await next.commit(
      commit({ fencingToken: 2, expectedOffset, checkpoint: { offset: 9, id: 'r9', streamId: 'log' } }),
    );
    expect(await next.claim(scope, 3)).toMatchObject({ checkpoint: { offset: 9 }, intact: true });
    expect(await next.checkpoint(scope)).toMatchObject({ offset: 9 });
    await expect(store.commit(commit({}))).rejects.toMatchObject(fencedError);
  });

  test('a name that is not UTF-8 is no loop either', async () => {
    const fleet = `sluice-unreadable-${performance.now()}`;
    const { store } = await connections.open({ fleet });
    await begin(store);
    await admin('EVAL', `return redis.call('HSET', KEYS[1], '\\255\\254', '1')`, '1', `{${fleet}:${scope}}:view`);
    expect(await store.claim(scope, 2)).toMatchObject({ checkpoint: null, entries: [{ key: 'c/ns/a' }] });
  });

  test('an owner continues after a kill that lost nothing', async () => {
    const { store } = await connections.open();
    await begin(store);
    await server.persisted();
    await server.restart();
    await store.commit(commit({ value: 2 }));
    expect(await store.claim(scope, 1)).toMatchObject({ intact: true, entries: [{ value: 2 }] });
  });

  test('an owner whose last commit is lost is fenced, even at the same offset', async () => {
    const { store } = await connections.open();
    await begin(store);
    const snapshot = await server.snapshot();
    await store.commit(commit({ value: 2 }));
    await server.restore(snapshot);
    await expect(store.commit(commit({ value: 3 }))).rejects.toMatchObject(fencedError);
    expect(await store.claim(scope, 1)).toMatchObject({ intact: false, entries: [{ value: 1 }] });
  });

  test('an owner whose claim is lost is fenced if its predecessor has committed meanwhile', async () => {
    const [before, after] = [await connections.open({ fleet: 'sluice' }), await connections.open({ fleet: 'sluice' })];
    await begin(before.store);
    const snapshot = await server.snapshot();
    await after.store.claim(scope, 2);
    await server.restore(snapshot);
    await before.store.commit(commit({ value: 2 }));
    await expect(after.store.commit(commit({ fencingToken: 2, value: 3 }))).rejects.toMatchObject(fencedError);
    expect(await after.store.claim(scope, 2)).toMatchObject({ entries: [{ value: 2 }] });
    await expect(before.store.commit(commit({}))).rejects.toMatchObject(fencedError);
  });

  test.each(['wiped', 'flushed'])(
    '%s: the owner is fenced, and the next claim reports an unknown state',
    async (how) => {
      const { store } = await connections.open();
      await begin(store);
      if (how === 'flushed') await admin('FLUSHALL');
      else await server.restore(undefined);
      await expect(store.commit(commit({}))).rejects.toMatchObject(fencedError);
      const empty = { checkpoint: null, intact: false, entries: [] };
      expect(await store.claim(scope, 1)).toEqual(empty);
      expect(await store.claim(scope, 2)).toEqual(empty);
      await store.commit(commit({ fencingToken: 2, expectedOffset: 0 }));
      expect((await store.claim(scope, 3)).intact).toBe(true);
    },
  );

  test('the fencing token of a lease increases even after Redis has lost it', async () => {
    const { leases } = await connections.open();
    const heartbeat = () => leases.heartbeat({ group: 'g', member: 'a', ttlMs: 5000, release: [], acquire: ['s'] });
    const before = (await heartbeat()).leases[0]?.fencingToken ?? Number.POSITIVE_INFINITY;
    await admin('FLUSHALL');
    expect((await heartbeat()).leases[0]?.fencingToken).toBeGreaterThan(before);
  });

  test('a heartbeat that only renews notices that Redis has lost the leases', async () => {
    const { leases } = await connections.open();
    const renew = () => leases.heartbeat({ group: 'g', member: 'a', ttlMs: 5000, release: [], acquire: [] });
    await leases.heartbeat({ group: 'g', member: 'a', ttlMs: 5000, release: [], acquire: ['s'] });
    const before = await renew();
    expect(before.leases).toHaveLength(1);
    expect((await renew()).version).toBe(before.version);
    await admin('FLUSHALL');
    const after = await renew();
    expect(after.leases).toEqual([]);
    expect(after.version).not.toBe(before.version);
  });

  test('frozen: a heartbeat fails within its ttl, a commit after the command timeout; the claim shows whether the commit succeeded', async () => {
    const { store, leases } = await connections.open({ commandTimeoutMs: 1000 });
    await begin(store);
    await leases.heartbeat({ group: 'g', member: 'a', ttlMs: 500, release: [], acquire: [] });
    await server.process.freeze();
    try {
      const late = store.commit(commit({ value: 2 }));
      const heartbeat = leases.heartbeat({ group: 'g', member: 'a', ttlMs: 500, release: [], acquire: [] });
      await expect(heartbeat).rejects.toMatchObject({ name: 'RedisStoreError' });
      await expect(late).rejects.toMatchObject({ name: 'RedisStoreError' });
    } finally {
      server.process.signal('SIGCONT');
    }
    const state = await store.claim(scope, 1);
    // Applied or not, the result is final: the next commit succeeds on the state of the claim.
    await store.commit(commit({ value: 3 }));
    expect(state.entries).toHaveLength(1);
    expect((await store.claim(scope, 1)).entries).toMatchObject([{ value: 3 }]);
  });

  test('down: a heartbeat fails, a commit succeeds after the return', async () => {
    const { store, leases } = await connections.open();
    await begin(store);
    await server.persisted();
    await server.process.kill();
    const heartbeat = () => leases.heartbeat({ group: 'g', member: 'a', ttlMs: 500, release: [], acquire: [] });
    await expect(heartbeat()).rejects.toMatchObject({ name: 'RedisStoreError' });
    const waiting = expect.poll(() => store.commit(commit({ value: 2 })).then(() => 'done', String));
    await server.restart();
    await waiting.toBe('done');
    await expect.poll(() => heartbeat().then(() => 'done', String)).toBe('done');
  });

  test('out of memory: a commit fails without partial effects, heartbeats succeed', async () => {
    const { store, leases } = await connections.open();
    await begin(store);
    await admin('CONFIG', 'SET', 'maxmemory', '1');
    try {
      const wanted = commit({ value: 2, checkpoint: { offset: 2, id: 'r2', streamId: 'log' } });
      await expect(store.commit(wanted)).rejects.toMatchObject({
        code: 'FULL',
        message: expect.stringContaining('maxmemory'),
      });
      await leases.heartbeat({ group: 'g', member: 'a', ttlMs: 5000, release: [], acquire: ['s'] });
      await admin('CONFIG', 'SET', 'maxmemory', '0');
      await store.commit(wanted);
    } finally {
      await admin('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  test('unwritable disk: a commit fails without partial effects', async () => {
    const { store } = await connections.open();
    await begin(store);
    const inTheWay = join(root, 'one', 'data', 'dump.rdb');
    mkdirSync(inTheWay, { recursive: true });
    await admin('CONFIG', 'SET', 'save', '3600 1');
    try {
      await admin('BGSAVE');
      const refused = () =>
        store.commit(commit({ value: 2 })).then(
          () => 'done',
          (error: unknown) => inspect(error),
        );
      await expect.poll(refused).toContain("code: 'FULL'");
      expect(await refused()).toContain('cannot write to its disk');
    } finally {
      await admin('CONFIG', 'SET', 'save', '');
      rmSync(inTheWay, { recursive: true, force: true });
      await admin('BGSAVE');
    }
    await expect.poll(() => store.claim(scope, 1).then(() => 'done', String)).toBe('done');
    await store.commit(commit({ value: 4 }));
  });

  test('wrong credentials are reported without the secret', async () => {
    const failed = connections.open({ password: 'geheim' });
    await expect(failed).rejects.toMatchObject({ code: 'CREDENTIALS' });
    expect(inspect(await failed.catch((error: unknown) => error), { depth: 10 })).not.toContain('geheim');
    await expect(connections.open({ username: 'nobody' })).rejects.toMatchObject({ code: 'CREDENTIALS' });
  });

  test('a missing permission is named', async () => {
    await admin('ACL', 'SETUSER', 'poor', 'on', '>poor', '~*', '+info', '+ping');
    const { store } = await connections.open({ username: 'poor', password: 'poor' });
    await expect(store.claim(scope, 1)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('evalsha'),
    });
  });

  test('an eviction policy that changes while running becomes a problem, until it is corrected', async () => {
    // Checks each 100 ms instead of each minute.
    const clock: Clock = {
      ...systemClock,
      schedule: (delayMs, callback) => systemClock.schedule(delayMs === 60_000 ? 100 : delayMs, callback),
    };
    const user = { username: SLUICE_USER, password: SLUICE_PASSWORD };
    const ports = await openRedis({ urls: [server.url], fleet: 'monitored', ...user }, { clock, logger: silentLogger });
    const kinds = () => ports.problems().map(({ kind }) => kind);
    try {
      expect(kinds()).not.toContain('eviction');
      await admin('CONFIG', 'SET', 'maxmemory', '100mb');
      await admin('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      await expect.poll(kinds).toContain('eviction');
      await admin('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await expect.poll(kinds).not.toContain('eviction');
    } finally {
      await admin('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await admin('CONFIG', 'SET', 'maxmemory', '0');
      ports.close();
    }
  });

  test('a Redis that evicts keys is rejected, and one that does not respond within the timeout', async () => {
    await admin('CONFIG', 'SET', 'maxmemory', '100mb');
    await admin('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await expect(connections.open()).rejects.toMatchObject({
        code: 'EVICTION',
        message: expect.stringContaining('allkeys-lru'),
      });
    } finally {
      await admin('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await admin('CONFIG', 'SET', 'maxmemory', '0');
    }
    await expect(connections.open({ urls: ['redis://127.0.0.1:1'], commandTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
  });
});

test('Sentinel: work continues at the new master, which may lack commits, as may the old one later', async () => {
  const sentinel = await startRedisSentinel({ directory: join(root, 'sentinel'), sentinels: 3 });
  const urls = sentinel.sentinels.map(({ url }) => url);
  const connections = new Connections({ urls, topology: { mode: 'sentinel', masterName: sentinel.masterName } });
  try {
    const { store, leases } = await connections.open();
    const claimed = async (epoch: number) => {
      let state: Awaited<ReturnType<Store['claim']>> | undefined;
      const attempt = async () => {
        state = await store.claim(scope, epoch);
        return 'done';
      };
      await expect.poll(() => attempt().catch(String)).toBe('done');
      return state;
    };
    await begin(store);
    await sentinel.failover();
    expect(await claimed(2)).toMatchObject({ intact: false, checkpoint: { offset: 1 } });
    // Back on a server that has never restarted: its run id is that of the last commit.
    await sentinel.failover();
    expect(await claimed(3)).toMatchObject({ intact: false, checkpoint: { offset: 1 } });
    await store.commit(commit({ fencingToken: 3, value: 3 }));
    expect((await claimed(3))?.intact).toBe(true);

    await (await sentinel.master()).process.kill();
    expect(await claimed(4)).toMatchObject({ intact: false });
    await store.commit(commit({ fencingToken: 4, value: 4 }));
    const heartbeat = () => leases.heartbeat({ group: 'g', member: 'a', ttlMs: 5000, release: [], acquire: ['s'] });
    await expect.poll(() => heartbeat().then((state) => state.leases.length, String)).toBe(1);
  } finally {
    connections.close();
    await sentinel.stop();
  }
});
