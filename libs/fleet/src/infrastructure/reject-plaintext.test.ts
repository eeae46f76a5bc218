import { expect, test } from 'vitest';
import { loadConfiguration } from '../configuration/load/index.ts';
import { rejectPlaintext } from './reject-plaintext.ts';

const check = (environment: Readonly<Record<string, string>>) => () =>
  rejectPlaintext(loadConfiguration({ environment, flags: {} }));
const nats = (server: string) => ({ SLUICE_BUS_SERVERS: server });
const redis = (url: string) => ({ SLUICE_STORE_URL: url });

test.each([
  ['bus', nats('nats://nats.nats.svc:4222')],
  ['bus', nats('nats://127.0.0.1:4222,nats://10.0.0.1:4222')],
  ['bus', { ...nats('kafka://kafka:9092'), SLUICE_BUS_REPLICAS: '1' }],
  ['store', redis('redis://redis:6379')],
  ['store', redis('redis://[fd00::1]:6379')],
])('%s on another host without TLS and credentials is refused: %j', (section, environment) => {
  expect(check(environment)).toThrow(new RegExp(`^${section} at .* is used without TLS and without credentials`));
});

test.each([
  [nats('nats://127.0.0.1:4222')],
  [nats('nats://localhost:4222')],
  [nats('nats://[::1]:4222')],
  [nats('tls://nats:4222')],
  [{ ...nats('nats://nats:4222'), SLUICE_BUS_TOKEN: 't' }],
  [redis('redis://localhost')],
  [redis('rediss://redis')],
  [redis('redis://:secret@redis')],
  [{ ...redis('redis://redis'), SLUICE_STORE_PASSWORD: 'p' }],
])('loopback, TLS and credentials are accepted: %j', (environment) => {
  expect(check(environment)).not.toThrow();
});
