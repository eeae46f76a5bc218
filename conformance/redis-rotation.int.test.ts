import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis, startRedisCluster, startRedisSentinel } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis, type RedisOptions } from '@sluice/store/redis';
import { expect, test } from 'vitest';

/** A password of Redis is rotated under open connections (ADR 0016), in every topology and with TLS. */
interface Started {
  readonly options: Omit<RedisOptions, 'fleet'>;
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

const kinds: readonly (readonly [string, (directory: string) => Promise<Started>])[] = [
  [
    'TLS',
    async (directory) => {
      const server = await startRedis({ directory, tls: true });
      const ca = readFileSync(server.certificate?.ca ?? '', 'utf8');
      return { options: { urls: [server.url], tls: { ca } }, servers: [server], stop: server.stop };
    },
  ],
  [
    'Redis Cluster',
    async (directory) => {
      const { nodes, stop } = await startRedisCluster({ directory });
      return { options: { urls: nodes.map(({ url }) => url), topology: { mode: 'cluster' } }, servers: nodes, stop };
    },
  ],
  [
    'Sentinel',
    async (directory) => {
      const { sentinels, servers, masterName, stop } = await startRedisSentinel({ directory, sentinels: 1 });
      const urls = sentinels.map(({ url }) => url);
      return { options: { urls, topology: { mode: 'sentinel', masterName } }, servers, stop };
    },
  ],
];

/** Sets the only password of the user, and closes its connections. */
async function setPassword(servers: readonly RedisServer[], password: string): Promise<void> {
  for (const server of servers) {
    const admin = server.connect();
    await admin.call('ACL', 'SETUSER', 'sluice', 'on', 'resetpass', `>${password}`, '~*', '&*', '+@all');
    await admin.call('CLIENT', 'KILL', 'USER', 'sluice');
    admin.disconnect();
  }
}

test.each(kinds)('%s: store and heartbeats connect with the new password, and with no other', async (_, start) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-rotation-'));
  const { options, servers, stop } = await start(directory);
  try {
    await setPassword(servers, 'first');
    let password = 'first';
    const secrets = () => ({ ...options, username: 'sluice', password });
    const ports = await openRedis(
      { ...options, fleet: 'rotated', username: 'sluice', password, commandTimeoutMs: 2_000 },
      { clock: systemClock, logger: silentLogger, secrets },
    );
    try {
      const set = () => ports.store.setIfAbsent('name', 'value').catch(String);
      const request = { group: 'g', member: 'a', ttlMs: 5_000, release: [], acquire: ['0'] };
      const heartbeat = () => ports.leases.heartbeat(request).then(({ leases }) => leases.length, String);
      expect(await set()).toBe('value');
      expect(await heartbeat()).toBe(1);
      await setPassword(servers, 'second');
      // Rejected while only the old password is known.
      expect(await set()).not.toBe('value');
      password = 'second';
      await expect.poll(set).toBe('value');
      await expect.poll(heartbeat).toBe(1);
    } finally {
      ports.close();
    }
  } finally {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  }
});
