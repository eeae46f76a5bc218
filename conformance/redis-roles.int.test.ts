import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis } from '@sluice/local';
import type { Commit, Store } from '@sluice/store';
import type { RedisPorts } from '@sluice/store/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connections } from './redis-fixture.ts';

/** What a compromised role can do with its Redis user, against a real server. */

const script = new URL('../infra/images/redis-users.sh', import.meta.url).pathname;
const fleet = 'sluice';
const roles = ['watcher', 'reconciler', 'writer', 'console', 'worker'] as const;
type Role = (typeof roles)[number];

/** Name → permissions of each user that the script prints. */
function printedUsers(): Readonly<Record<string, string>> {
  const passwords = roles.map((role) => [`${role.toUpperCase()}_PASSWORD`, `password-of-${role}`]);
  const env = Object.fromEntries([['PATH', process.env.PATH], ...passwords]);
  const lines = execFileSync(script, [fleet], { encoding: 'utf8', env }).trim().split('\n');
  const users = lines.map((line) => /^user (\S+) (.*)$/.exec(line)?.slice(1) ?? ['', '']);
  return Object.fromEntries(users.filter(([name]) => name !== 'default'));
}

const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-roles-'));
let server: RedisServer;
let connections: Connections;
const ports = new Map<Role, RedisPorts>();

beforeAll(async () => {
  server = await startRedis({ directory, users: printedUsers() });
  connections = new Connections({ urls: [server.url] });
  for (const role of roles) {
    const user = { username: `sluice-${role}`, password: `password-of-${role}` };
    ports.set(role, await connections.open({ fleet, ...user }));
  }
});

afterAll(async () => {
  connections?.close();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function of(role: Role): RedisPorts {
  const found = ports.get(role);
  if (found === undefined) throw new Error(`no connection of the ${role}`);
  return found;
}

async function begin(store: Store, scope: string): Promise<void> {
  await store.claim(scope, 1);
  const entries: Commit['entries'] = [{ key: 'c/ns/a', field: 'f', value: 1 }];
  const checkpoint = { offset: 1, id: 'r1', streamId: 'log' };
  await store.commit({ scope, fencingToken: 1, expectedOffset: 0, checkpoint, entries });
}

const forbidden = { code: 'FORBIDDEN' };
const scopes = { watcher: 'watcher/c1', reconciler: 'reconciler/0', writer: 'writer/0' } as const;
const groups = { watcher: 'watcher', reconciler: 'reconciler', writer: 'writer' } as const;
const heartbeat = (group: string) => ({ group, member: 'm', ttlMs: 60_000, release: [], acquire: [] });

const owners = ['watcher', 'reconciler', 'writer'] as const;

describe.each(owners)('the %s', (role) => {
  test('can keep its state and leases and use what is shared', async () => {
    const { store, leases, deadLetters, directory: clusters, clusterPins } = of(role);
    await begin(store, scopes[role]);
    expect(await store.find(scopes[role], 'f')).toHaveLength(1);
    await leases.heartbeat(heartbeat(groups[role]));
    await leases.heartbeat(heartbeat('bus'));
    expect(await store.setIfAbsent('partitions', '64')).toBe('64');
    await deadLetters.list();
    await clusters.list();
    expect(clusterPins).toBeDefined();
  });

  test.each(owners.filter((other) => other !== role))(
    'cannot read or change state and leases of the %s',
    async (other) => {
      const { store, leases } = of(role);
      await expect(store.claim(scopes[other], 99)).rejects.toMatchObject(forbidden);
      await expect(store.find(scopes[other], '')).rejects.toMatchObject(forbidden);
      await expect(leases.heartbeat(heartbeat(groups[other]))).rejects.toMatchObject(forbidden);
    },
  );
});

test('a worker can keep the state and leases of watcher, reconciler and writer and use what is shared', async () => {
  const { store, leases, deadLetters, directory: clusters } = of('worker');
  for (const role of owners) {
    await store.claim(scopes[role], 2);
    expect(await store.find(scopes[role], '')).toHaveLength(1);
    await leases.heartbeat(heartbeat(groups[role]));
  }
  await leases.heartbeat(heartbeat('bus'));
  expect(await store.setIfAbsent('partitions', '64')).toBe('64');
  await deadLetters.list();
  await clusters.list();
});

test('the console reads everything and changes nothing', async () => {
  const { store, leases, deadLetters, directory: clusters, clusterPins, partitions } = of('console');
  for (const scope of Object.values(scopes)) {
    await store.find(scope, '');
    await expect(store.claim(scope, 99)).rejects.toMatchObject(forbidden);
  }
  for (const group of [...Object.values(groups), 'bus']) {
    await of('worker').leases.heartbeat({ ...heartbeat(group), acquire: [`${group}-scope`] });
    const { members, leases: held } = await leases.state(group);
    expect(members).toContain('m');
    expect(held).toContainEqual(expect.objectContaining({ scope: `${group}-scope`, holder: 'm' }));
    await expect(leases.heartbeat(heartbeat(group))).rejects.toMatchObject(forbidden);
    await expect(leases.leave(group, 'm')).rejects.toMatchObject(forbidden);
  }
  await deadLetters.list();
  await clusters.list();
  await clusterPins.read();
  await partitions.read();
  await expect(deadLetters.drop('d')).rejects.toMatchObject(forbidden);
  await expect(clusters.remove('c1')).rejects.toMatchObject(forbidden);
  await expect(clusterPins.replace(null, '{}')).rejects.toMatchObject(forbidden);
  await expect(store.setIfAbsent('other', '1')).rejects.toMatchObject(forbidden);
});

describe('a command that no role needs is refused', () => {
  const scripts = ['script load return', 'function load x', 'fcall f 0', 'eval_ro return 0'];
  const forAll = [...scripts, 'flushall', 'config get maxmemory', 'acl list', 'keys *', 'client list', 'shutdown'];
  const forConsole = ['eval return 0', 'evalsha 0000000000000000000000000000000000000000 0', 'publish {sluice:x} y'];

  test.each(roles)('to the %s', async (role) => {
    const client = server.connect();
    await client.auth(`sluice-${role}`, `password-of-${role}`);
    try {
      for (const line of role === 'console' ? [...forAll, ...forConsole] : forAll) {
        const [command = '', ...args] = line.split(' ');
        await expect(client.call(command, args), line).rejects.toThrow(/^NOPERM/);
      }
    } finally {
      client.disconnect();
    }
  });
});
