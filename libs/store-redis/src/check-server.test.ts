import { silentLogger } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { checkServer } from './check-server.ts';

function check(fields: Readonly<Record<string, string | number>>): readonly string[] {
  const suitable = { redis_version: '7.0.15', tcp_port: 6379, role: 'master', maxmemory: 0, aof_enabled: 1 };
  const lines = Object.entries({ ...suitable, ...fields }).map(([name, value]) => `${name}:${value}`);
  const warnings: string[] = [];
  checkServer(`# Server\r\n${lines.join('\r\n')}\r\n`, { ...silentLogger, warn: (message) => warnings.push(message) });
  return warnings;
}

test('a suitable server causes neither error nor warning', () => {
  expect(check({})).toEqual([]);
  expect(check({ maxmemory: 1000, maxmemory_policy: 'noeviction' })).toEqual([]);
  expect(check({ maxmemory_policy: 'allkeys-lru' })).toEqual([]);
  expect(check({ redis_version: '10.1.0' })).toEqual([]);
});

test('a server that is too old, evicts data or is a replica is rejected', () => {
  expect(() => check({ redis_version: '6.2.14' })).toThrow(/is 6\.2\.14; Sluice needs 7\.0/);
  expect(() => check({ redis_version: '?' })).toThrow(/needs 7\.0/);
  const evicting = { maxmemory: 1048576, maxmemory_human: '1.00M', maxmemory_policy: 'allkeys-lru' };
  expect(() => check(evicting)).toThrow(/maxmemory is 1\.00M and maxmemory-policy is allkeys-lru.*noeviction/);
  expect(() => check({ role: 'slave' })).toThrow(/is a replica/);
});

test('a server without persistence causes a warning', () => {
  expect(check({ aof_enabled: 0 })).toEqual([expect.stringContaining('no append-only file')]);
});
