import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis, startRedisCluster, startRedisSentinel } from '@sluice/local';
import { sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { RedisOptions } from '@sluice/store/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterDirectoryContract } from './cluster-directory-contract.ts';
import { clusterPinsContract } from './cluster-pins-contract.ts';
import { deadLettersContract } from './dead-letters-contract.ts';
import { leasesContract } from './leases-contract.ts';
import { Connections, documentedRights, SLUICE_PASSWORD, SLUICE_USER } from './redis-fixture.ts';
import { storeContract } from './store-contract.ts';

interface Started {
  readonly options: Omit<RedisOptions, 'fleet'>;
  stop(): Promise<void>;
}

/** The tests tolerate processes that stop for half of it. */
const ttlMs = 10_000;

const user = { username: SLUICE_USER, password: SLUICE_PASSWORD };

const KINDS: Readonly<Record<string, (directory: string) => Promise<Started>>> = {
  async 'one Redis'(directory) {
    const server = await startRedis({ directory });
    return { options: { urls: [server.url] }, stop: server.stop };
  },
  async 'one Redis, TLS, with the documented permissions'(directory) {
    const server = await startRedis({ directory, tls: true, users: { [SLUICE_USER]: documentedRights() } });
    const ca = readFileSync(server.certificate?.ca ?? '', 'utf8');
    return { options: { urls: [server.url], tls: { ca }, ...user }, stop: server.stop };
  },
  async 'Redis Cluster, with the documented permissions'(directory) {
    const cluster = await startRedisCluster({ directory, users: { [SLUICE_USER]: documentedRights() } });
    const urls = cluster.nodes.map(({ url }) => url);
    return { options: { urls, topology: { mode: 'cluster' }, ...user }, stop: cluster.stop };
  },
  async 'Redis behind Sentinel'(directory) {
    const { sentinels, masterName, stop } = await startRedisSentinel({ directory, sentinels: 1 });
    const urls = sentinels.map(({ url }) => url);
    return { options: { urls, topology: { mode: 'sentinel', masterName } }, stop };
  },
};

for (const [kind, start] of Object.entries(KINDS)) {
  describe(kind, () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
    let started: Started | undefined;
    let connections: Connections;

    beforeAll(async () => {
      started = await start(directory);
      connections = new Connections(started.options);
    });
    afterAll(async () => {
      connections?.close();
      await started?.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    storeContract(kind, async () => (await connections.open()).store);
    clusterDirectoryContract(kind, async () => (await connections.open()).directory);
    clusterPinsContract(kind, async () => (await connections.open()).clusterPins);
    deadLettersContract(
      kind,
      async () => (await connections.open({ maxDeadLetters: 5, maxDeadLetterBytes: 1_500 })).deadLetters,
    );
    leasesContract(kind, ttlMs, async () => {
      const { leases } = await connections.open();
      // biome-ignore lint/plugin: how the server's clock passes
      return { leases, pass: (ms) => sleep(systemClock, ms) };
    });

    test.concurrent('another thread keeps a lease alive without heartbeats, until it is no longer held', async () => {
      const { leases } = await connections.open();
      const [scope, periodMs] = ['0', ttlMs / 4];
      const request = { group: 'g', member: 'a', ttlMs, release: [], acquire: [scope] };
      const keepAlive = leases.keepAlive?.({ group: 'g', member: 'a', ttlMs, periodMs, maxSilenceMs: 60_000 });
      if (keepAlive === undefined) throw new Error('no lease thread');
      // Until the thread is connected, heartbeats renew.
      keepAlive.alive(systemClock.monotonic());
      await expect
        .poll(async () => {
          const { leases: held } = await leases.heartbeat(request);
          keepAlive.hold(new Map(held.map(({ fencingToken }) => [scope, fencingToken])));
          return keepAlive.renewedAt;
        })
        .toBeGreaterThan(0);
      // biome-ignore lint/plugin: without renewals the lease would expire
      await sleep(systemClock, 1.5 * ttlMs);
      expect((await leases.state('g')).leases).toMatchObject([{ scope, holder: 'a' }]);
      await leases.leave('g', 'a');
      // A renewal may still be in flight here, but one that is sent from now on must fail.
      const leftAt = systemClock.monotonic();
      // biome-ignore lint/plugin: time for several renewals
      await sleep(systemClock, ttlMs);
      expect(keepAlive.renewedAt).toBeLessThanOrEqual(leftAt);
      expect((await leases.state('g')).leases).toEqual([]);
      keepAlive.stop();
    });
  });
}
