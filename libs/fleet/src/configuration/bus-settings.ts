import * as kinds from './kinds.ts';
import { pem, secret, setting } from './setting.ts';

const { age, duration, integer, text } = kinds;

export const busSettings = {
  'bus.kind': setting(kinds.oneOf('memory', 'nats', 'kafka'), 'kind of bus; derived from the scheme of `bus.servers`', {
    default: 'memory',
  }),
  'bus.servers': setting(
    kinds.addresses(
      /^((nats|tls|kafka):\/\/)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/,
      'nats://host:4222, tls://host:4222 or kafka://host:9092, without user and password',
    ),
    'nats://, tls:// or kafka:// host:port, one or more; they name the other servers; the flag also takes `memory`',
    { flag: '--bus <url,...>', address: true, example: ['nats://127.0.0.1:4222'] },
  ),
  'bus.username': setting(text, 'user (NATS, or SASL on Kafka)', { example: 'sluice' }),
  'bus.password': setting(text, 'password of that user', secret),
  'bus.token': setting(text, 'token instead of a user', { ...secret, of: ['nats'] }),
  'bus.nkeySeed': setting(text, 'nkey seed (`SU…`) instead of a user', { ...secret, of: ['nats'] }),
  'bus.creds': setting(text, 'content of a `.creds` file instead of a user', { ...secret, of: ['nats'] }),
  'bus.mechanism': setting(kinds.oneOf('plain', 'scram-sha-256', 'scram-sha-512'), 'SASL mechanism', {
    of: ['kafka'],
    default: 'scram-sha-512',
  }),
  'bus.tls.enabled': setting(kinds.boolean, 'use TLS; implied by `tls://` or any other setting of `bus.tls`', {
    example: true,
  }),
  'bus.tls.ca': setting(text, 'certificate authorities in PEM; default: those of the system', pem),
  'bus.tls.cert': setting(text, 'client certificate in PEM', pem),
  'bus.tls.key': setting(text, 'key of that certificate in PEM', secret),
  'bus.tls.serverName': setting(text, "name in the brokers' certificates; default: their host", {
    of: ['kafka'],
    example: 'kafka.example.com',
  }),
  'bus.replicas': setting(integer(1, 15), 'replicas of each stream or topic; with NATS 1, 3 or 5', {
    defaultOf: { nats: 1, kafka: 3 },
  }),
  'bus.minInsyncReplicas': setting(integer(1, 15), 'replicas an append waits for; default 2, or 1 with one replica', {
    of: ['kafka'],
    example: 2,
  }),
  'bus.maxAge.changes': setting(age, 'retention of `changes`', { default: 86_400_000 }),
  'bus.maxAge.mutations': setting(age, 'retention of `mutations`', { default: 86_400_000 }),
  'bus.maxAge.requests': setting(age, 'retention of `requests`', { defaultOf: { nats: 3_600_000, kafka: 86_400_000 } }),
  'bus.maxBytes.changes': setting(kinds.size, 'maximum size of a partition of `changes`', { default: 64 * 1024 ** 2 }),
  'bus.maxBytes.mutations': setting(kinds.size, 'maximum size of a partition of `mutations`', {
    default: 64 * 1024 ** 2,
  }),
  'bus.maxBytes.requests': setting(kinds.size, 'maximum size of `requests`', { default: 16 * 1024 ** 2 }),
  'bus.duplicateWindow': setting(duration('1s', '24h'), 'how long the bus recognises a repeated record', {
    of: ['nats'],
    default: 120_000,
  }),
  'bus.maxMessageBytes': setting(
    kinds.size,
    'largest batch of records; a lower limit of an existing topic takes precedence',
    { of: ['kafka'], default: 4 * 1024 ** 2 },
  ),
  'bus.connectWithin': setting(
    duration('100ms', '1h'),
    'how long to try to reach the bus; roles retry forever, commands give up',
    { default: 30_000 },
  ),
} as const;
