import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { startLeaseThread } from '@sluice/fleet/lease-thread';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { freePorts, type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Passwords of bus and store are rotated under a running process: real NATS and Redis, passwords in mounted files. */
const directory = mkdtempSync(join(tmpdir(), 'sluice-rotation-'));
const rights = '~* &* +@all';
let nats: Nats;
let redis: RedisServer;
let fleet: OpenInfrastructure;
let port: number;

const writePassword = (section: 'bus' | 'store', password: string) => writeFileSync(join(directory, section), password);

function serveNats(password: string): Promise<Nats> {
  const configuration = `authorization { users: [{ user: sluice, password: "${password}" }] }`;
  return startNats({ directory: join(directory, 'nats'), port, configuration });
}

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  nats = await serveNats('first');
  redis = await startRedis({ directory: join(directory, 'redis'), users: { sluice: `on >first ${rights}` } });
  writePassword('bus', 'first\n');
  writePassword('store', 'first\n');
  const file = join(directory, 'sluice.json');
  const bus = { servers: [nats.url], username: 'sluice', passwordFile: 'bus' };
  writeFileSync(
    file,
    JSON.stringify({ partitions: 1, bus, store: { url: [redis.url], username: 'sluice', passwordFile: 'store' } }),
  );
  const reread = () => loadConfiguration({ file, environment: {}, flags: {} });
  const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };
  fleet = await openInfrastructure(reread(), { ...ports, reread, startLeaseThread });
});

afterAll(async () => {
  await fleet?.close();
  await nats?.stop();
  await redis?.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('NATS: a restart with another password is followed by a connection with that password', async () => {
  const append = (id: string) =>
    fleet.bus.append('requests', 0, [{ key: 'resync', id, headers: {}, payload: new Uint8Array([1]) }]);
  await append('before');
  await nats.stop();
  nats = await serveNats('second');
  // The process tries the old password until the file changes.
  await expect.poll(() => readFileSync(nats.process.command.log, 'utf8')).toContain('authentication error');
  writePassword('bus', 'second\n');
  await expect.poll(() => append('after').then(() => 'appended')).toBe('appended');
});

test('Redis: store, heartbeats and the lease thread connect with the new password', async () => {
  const request = { group: 'writer', member: 'a', ttlMs: 900, release: [], acquire: ['0'] };
  const keepAlive = fleet.leases.keepAlive?.({ ...request, periodMs: 250, maxSilenceMs: 600_000 });
  if (keepAlive === undefined) throw new Error('no lease thread');
  keepAlive.alive(systemClock.monotonic());
  const heartbeat = () =>
    fleet.leases.heartbeat(request).then(
      ({ leases }) => {
        keepAlive.hold(new Map(leases.map(({ scope, fencingToken }) => [scope, fencingToken])));
        return leases.length;
      },
      () => 0,
    );
  const renewedAfter = async (since: number) => {
    await heartbeat();
    return keepAlive.renewedAt > since;
  };
  await expect.poll(() => renewedAfter(0)).toBe(true);

  const admin = redis.connect();
  await admin.acl('SETUSER', 'sluice', 'resetpass', '>second');
  await admin.client('KILL', 'USER', 'sluice');
  await expect.poll(() => admin.acl('LOG')).not.toEqual([]);
  admin.disconnect();
  writePassword('store', 'second\n');
  const rotatedAt = systemClock.monotonic();
  await expect.poll(() => fleet.store.setIfAbsent('partitions', '1').catch(() => '')).toBe('1');
  await expect.poll(heartbeat).toBe(1);
  await expect.poll(() => renewedAfter(rotatedAt)).toBe(true);
  keepAlive.stop();
});
