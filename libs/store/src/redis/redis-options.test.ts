import { expect, test } from 'vitest';
import { type RedisOptions, readAddresses } from './redis-options.ts';

const read = (options: Partial<RedisOptions>) => readAddresses({ urls: ['redis://127.0.0.1'], fleet: 'f', ...options });

test('URLs give hosts, user, password, database and TLS; separate options take precedence', () => {
  expect(read({ urls: ['rediss://me:p%40ss@redis.example/2'] })).toEqual({
    hosts: [{ host: 'redis.example', port: 6379 }],
    tls: true,
    username: 'me',
    password: 'p@ss',
    database: 2,
  });
  expect(read({ urls: ['redis://me:old@[::1]:7000'], password: 'new' })).toMatchObject({
    hosts: [{ host: '::1', port: 7000 }],
    username: 'me',
    password: 'new',
  });
});

test('sentinels have a different default port', () => {
  const topology = { mode: 'sentinel', masterName: 'm' } as const;
  expect(read({ urls: ['redis://a', 'redis://b:1'], topology }).hosts).toEqual([
    { host: 'a', port: 26379 },
    { host: 'b', port: 1 },
  ]);
});
