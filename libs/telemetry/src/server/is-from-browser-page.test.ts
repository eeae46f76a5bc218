import { expect, test } from 'vitest';
import { isFromBrowserPage } from './is-from-browser-page.ts';

const loopback = { host: '127.0.0.1' };
const all = { host: '' };

test.each([
  ['localhost:10270', loopback],
  ['127.0.0.1:10270', loopback],
  ['[::1]:10270', { host: '::1' }],
  ['watcher:10270', all],
  ['10.1.2.3:10270', all],
])('a request to %s is answered', (host, at) => {
  expect(isFromBrowserPage({ host }, at)).toBe(false);
});

test.each(['evil.example:10270', '', '127.0.0.1.evil.example'])(
  'a server on loopback is not accessible as "%s"',
  (host) => {
    expect(isFromBrowserPage({ host }, loopback)).toBe(true);
  },
);

test('a page of another site cannot load it, a person can follow a link to it', () => {
  const headers = { host: 'localhost:10270', 'sec-fetch-site': 'cross-site' } as const;
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-mode': 'no-cors' }, loopback)).toBe(true);
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-mode': 'navigate' }, loopback)).toBe(false);
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-site': 'same-origin' }, loopback)).toBe(false);
});
