import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { startRedis, startRedisCluster, startRedisSentinel } from './src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
const running: { stop(): Promise<void> }[] = [];

function keep<T extends { stop(): Promise<void> }>(server: T): T {
  running.push(server);
  return server;
}

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('keeps port and data after a kill, and restores a snapshot or starts empty', async () => {
  const server = keep(await startRedis({ directory: join(root, 'one') }));
  const client = server.connect();
  const read = async () => (await client.call('GET', 'k')) ?? null;
  try {
    await client.call('SET', 'k', 'old');
    const snapshot = await server.snapshot();
    await client.call('SET', 'k', 'new');
    await server.persisted();
    await server.restart();
    expect(await read()).toBe('new');
    await server.restore(snapshot);
    expect(await read()).toBe('old');
    await server.restore(undefined);
    expect(await read()).toBe(null);
  } finally {
    client.disconnect();
  }
});

it('restarts with the readable part of its append-only file', async () => {
  const directory = join(root, 'unreadable');
  const server = keep(await startRedis({ directory }));
  const client = server.connect();
  try {
    await client.call('SET', 'k', 'v');
    await server.persisted();
    await server.process.kill();
    const files = join(directory, 'data', 'appendonlydir');
    const last = readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '';
    appendFileSync(join(files, last), '*2\r\n$3\r\nGET\r\nhalf a command, then others\r\n*1\r\n$4\r\nPING\r\n');
    await server.restart();
    expect(await client.call('GET', 'k')).toBe('v');
  } finally {
    client.disconnect();
  }
});

it('accepts only its users, and only over TLS', async () => {
  const users = { reader: 'on >secret ~* +get' };
  const server = keep(await startRedis({ directory: join(root, 'acl'), users, tls: true }));
  const client = server.connect();
  try {
    expect(await client.call('ACL', 'WHOAMI')).toBe('local-admin');
    expect(await client.call('ACL', 'DRYRUN', 'reader', 'SET', 'k', 'v')).toContain('no permissions');
    expect(server.url).toMatch(/^rediss:/);
  } finally {
    client.disconnect();
  }
});

it('forms a cluster of three masters', async () => {
  const cluster = keep(await startRedisCluster({ directory: join(root, 'cluster') }));
  const client = cluster.nodes[0]?.connect();
  try {
    expect(String(await client?.call('CLUSTER', 'INFO'))).toContain('cluster_slots_ok:16384');
  } finally {
    client?.disconnect();
  }
});

it('fails over after a kill of the master and on request', async () => {
  const sentinel = keep(await startRedisSentinel({ directory: join(root, 'sentinel'), sentinels: 3 }));
  const [first, second] = sentinel.servers;
  expect(await sentinel.master()).toBe(first);
  await sentinel.failover();
  expect(await sentinel.master()).toBe(second);
  await second.process.kill();
  await expect.poll(() => sentinel.master()).toBe(first);
});
