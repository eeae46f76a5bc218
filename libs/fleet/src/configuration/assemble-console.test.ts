import { expect, test } from 'vitest';
import { errorOf, resolve } from './testing/resolve.ts';

const open = { SLUICE_CONSOLE_BIND_ADDRESS: ':8443' };
const tls = { SLUICE_CONSOLE_TLS_CERT: 'C', SLUICE_CONSOLE_TLS_KEY: 'K' };

test('a console listens on loopback by default, without a token', () => {
  const { console } = resolve({}).configuration;
  expect(console).toMatchObject({ bindAddress: undefined, token: undefined, tls: undefined, hosts: [] });
});

test('listening beyond loopback requires a token and TLS', () => {
  expect(errorOf({ environment: open })).toMatch(
    /console\.bindAddress\) is :8443, which is not loopback; use .* set console\.token .* and console\.tls\.cert/,
  );
  expect(errorOf({ environment: { ...open, SLUICE_CONSOLE_TOKEN: 'hush' } })).toMatch(/set console\.tls\.cert/);
  expect(errorOf({ environment: { ...open, ...tls } })).toMatch(/set console\.token \(--console-token-file\) as/);
  const { console } = resolve({ environment: { ...open, ...tls, SLUICE_CONSOLE_TOKEN: 'hush' } }).configuration;
  expect(console).toMatchObject({ bindAddress: { host: '', port: 8443 }, token: 'hush', tls: { cert: 'C', key: 'K' } });
  for (const address of ['127.0.0.1:1', 'localhost:1', '[::1]:1']) {
    expect(resolve({ environment: { SLUICE_CONSOLE_BIND_ADDRESS: address } }).warnings).toEqual([]);
  }
});

test('readers with tokens of their own take the place of the token', () => {
  const environment = { SLUICE_CONSOLE_AUTHORIZATION_MODE: 'cluster' };
  const { console } = resolve({ environment: { ...environment, ...open, ...tls } }).configuration;
  expect(console).toMatchObject({ authorizationMode: 'cluster', token: undefined, bindAddress: { port: 8443 } });
  expect(errorOf({ environment: { ...environment, ...open } })).toMatch(/set console\.tls\.cert/);
  expect(errorOf({ environment: { ...environment, SLUICE_CONSOLE_TOKEN: 'hush' } })).toMatch(
    /console\.authorizationMode\) is cluster, but .*console\.token\) is set, .* remove one of them/,
  );
  expect(errorOf({ environment: { SLUICE_CONSOLE_AUTHORIZATION_MODE: 'none' } })).toContain(
    'expected token or cluster',
  );
});

test('rejects inconsistent settings', () => {
  expect(errorOf({ environment: { SLUICE_CONSOLE_BIND_ADDRESS: '0' } })).toContain('needs an address to listen on');
  expect(errorOf({ environment: { SLUICE_CONSOLE_TLS_CERT: 'C' } })).toContain('set both');
  expect(errorOf({ environment: { SLUICE_CONSOLE_JAEGER_URL: 'http://j/trace' } })).toContain('{traceId}');
  expect(errorOf({ environment: { SLUICE_CONSOLE_HOSTS: 'Example.com:80' } })).toContain('without a port');
});
