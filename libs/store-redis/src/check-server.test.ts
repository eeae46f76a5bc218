import { silentLogger } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { checkServer } from './check-server.ts';

function check(facts: Readonly<Record<string, string | number>>): readonly string[] {
  const good = { redis_version: '7.0.15', tcp_port: 6379, role: 'master', maxmemory: 0, aof_enabled: 1 };
  const lines = Object.entries({ ...good, ...facts }).map(([name, value]) => `${name}:${value}`);
  const warnings: string[] = [];
  checkServer(`# Server\r\n${lines.join('\r\n')}\r\n`, { ...silentLogger, warn: (message) => warnings.push(message) });
  return warnings;
}

test('a server that fits raises neither error nor warning', () => {
  expect(check({})).toEqual([]);
  expect(check({ maxmemory: 1000, maxmemory_policy: 'noeviction' })).toEqual([]);
  expect(check({ maxmemory_policy: 'allkeys-lru' })).toEqual([]);
  expect(check({ redis_version: '10.1.0' })).toEqual([]);
});

test('one that is too old, evicts, or is a replica is refused', () => {
  expect(() => check({ redis_version: '6.2.14' })).toThrow(/is 6\.2\.14; Sluice needs 7\.0/);
  expect(() => check({ redis_version: '?' })).toThrow(/needs 7\.0/);
  const evicting = { maxmemory: 1048576, maxmemory_human: '1.00M', maxmemory_policy: 'allkeys-lru' };
  expect(() => check(evicting)).toThrow(/maxmemory is 1\.00M and maxmemory-policy is allkeys-lru.*noeviction/);
  expect(() => check({ role: 'slave' })).toThrow(/is a replica/);
});

test('one that forgets when it restarts is told of', () => {
  expect(check({ aof_enabled: 0 })).toEqual([expect.stringContaining('no append-only file')]);
});
