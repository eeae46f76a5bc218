import { expect, test } from 'vitest';
import { formatBindAddress, parseBindAddress } from './bind-address.ts';

test.each([
  ['127.0.0.1:10270', { host: '127.0.0.1', port: 10270 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:9090', { host: '::1', port: 9090 }],
  [':8080', { host: '', port: 8080 }],
])('parses and formats %s', (text, address) => {
  const parsed = parseBindAddress(text);
  expect(parsed).toEqual(address);
  expect(parsed && formatBindAddress(parsed)).toBe(text);
});

test('0 disables listening', () => {
  expect(parseBindAddress('0')).toBeNull();
});

test.each(['', '10270', 'localhost', '127.0.0.1:65536', '127.0.0.1:x', '::1:80', 'http://localhost:80', ':-1'])(
  'rejects %j with an example',
  (text) => {
    expect(() => parseBindAddress(text)).toThrow(`"${text}" is not a bind address; expected for example 127.0.0.1:`);
  },
);
