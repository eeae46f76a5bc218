import { expect, test } from 'vitest';
import { type RedisOptions, readAddresses } from './redis-options.ts';

const read = (options: Partial<RedisOptions>) => readAddresses({ urls: ['redis://127.0.0.1'], fleet: 'f', ...options });

test('URLs give hosts, user, password, database and TLS; what is set beside them wins', () => {
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

test('sentinels have a port of their own', () => {
  const topology = { mode: 'sentinel', masterName: 'm' } as const;
  expect(read({ urls: ['redis://a', 'redis://b:1'], topology }).hosts).toEqual([
    { host: 'a', port: 26379 },
    { host: 'b', port: 1 },
  ]);
});

test.each<[Partial<RedisOptions>, RegExp]>([
  [{ urls: [] }, /no Redis URL/],
  [{ urls: ['redis://a', 'redis://b'] }, /several Redis URLs need the topology/],
  [{ urls: ['redis://a', 'rediss://b'], topology: { mode: 'cluster' } }, /rediss:\/\//],
  [{ urls: ['redis://a/1'], topology: { mode: 'cluster' } }, /no databases/],
  [{ urls: ['redis://a/x'] }, /number of a database/],
  [{ urls: ['http://a'] }, /not with http:/],
  [{ fleet: 'a}b' }, /fleet's name/],
  [{ fleet: '' }, /fleet's name/],
])('%j is refused', (options, message) => {
  expect(() => read(options)).toThrow(message);
});

test('a URL that cannot be read is not shown: it may hold a password', () => {
  expect(() => read({ urls: ['redis://me:geheim@host:x'] })).toThrow(/^(?!.*geheim).*Redis URL 1 is no URL/);
});
