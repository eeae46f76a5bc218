import { expect, test } from 'vitest';
import { checkServer } from './check-server.ts';

function check(fields: Readonly<Record<string, string | number>>, failsOver = false) {
  const suitable = { redis_version: '7.0.15', tcp_port: 6379, role: 'master', maxmemory: 0, aof_enabled: 1 };
  const lines = Object.entries({ ...suitable, ...fields }).map(([name, value]) => `${name}:${value}`);
  return checkServer(`# Server\r\n${lines.join('\r\n')}\r\n`, failsOver);
}

const good = { error: undefined, problems: [] };

test('a suitable server causes neither error nor warning', () => {
  expect(check({})).toEqual(good);
  expect(check({ maxmemory: 1000, maxmemory_policy: 'noeviction' })).toEqual(good);
  expect(check({ maxmemory_policy: 'allkeys-lru' })).toEqual(good);
  expect(check({ redis_version: '10.1.0' })).toEqual(good);
  expect(check({ min_slaves_good_slaves: 1 }, true)).toEqual(good);
});

test('a server that is too old, evicts data or is a replica is unsuitable', () => {
  expect(check({ redis_version: '6.2.14' }).error?.message).toMatch(/is 6\.2\.14; Sluice needs 7\.0/);
  expect(check({ redis_version: '?' }).error?.message).toMatch(/needs 7\.0/);
  const evicting = { maxmemory: 1048576, maxmemory_human: '1.00M', maxmemory_policy: 'allkeys-lru' };
  expect(check(evicting).error?.message).toMatch(/maxmemory is 1\.00M and maxmemory-policy is allkeys-lru.*noeviction/);
  expect(check({ role: 'slave' }).error?.message).toMatch(/is a replica/);
  expect(check(evicting).problems).toEqual([{ kind: 'eviction', message: check(evicting).error?.message }]);
});

test('a server without persistence causes a warning', () => {
  expect(check({ aof_enabled: 0 }).problems).toMatchObject([
    { kind: 'persistence', message: expect.stringContaining('no append-only file') },
  ]);
});

test('a master that may be replaced without having replicated its commits causes a warning', () => {
  expect(check({}, true).problems).toMatchObject([
    { kind: 'replication', message: expect.stringContaining('min-replicas-to-write 0') },
  ]);
});
