import { expect, test } from 'vitest';
import { hostOfHeader, isLoopback } from './bind-address.ts';

test.each([
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.255.0.1',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
])('%s is of this machine', (host) => expect(isLoopback(host)).toBe(true));

test.each([
  ...['', '0.0.0.0', '::', '[::]', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', 'fe80::1'],
  ...[
    '127.0.0.1.example.com',
    '127.1',
    '127.0.0.999',
    'localhost.example.com',
    'notlocalhost',
    '[localhost',
    '127.0.0.1:80',
  ],
])('%j is not', (host) => expect(isLoopback(host)).toBe(false));

test.each([
  ['localhost:10270', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]:80', '[::1]'],
  ['[::1]', '[::1]'],
  ['Example.COM:', 'example.com'],
  [undefined, ''],
])('the host of %s', (header, host) => expect(hostOfHeader(header)).toBe(host));
