import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact, secretsIn } from './redact.ts';

/** Not like any pattern, so that only the name or the known value can give it away. */
const password = fc.stringMatching(/^[A-Za-z0-9#%^&+!?~-]{8,24}$/);

test('known secrets are masked in plain, JSON, URL and base64 form', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, maxLength: 40 }), (secret) => {
      fc.pre(secret.trim().length >= 8);
      const base64 = Buffer.from(secret.trim()).toString('base64');
      const forms = [
        secret.trim(),
        JSON.stringify(secret.trim()).slice(1, -1),
        encodeURIComponent(secret.trim()),
        base64,
      ];
      for (const form of forms) expect(redact(`level=info x (${form}) y`, [secret])).toBe('level=info x (***) y');
    }),
  );
});

test('unknown secrets are masked by their name', () => {
  fc.assert(
    fc.property(password, (secret) => {
      for (const text of [
        `password=${secret} partition=4`,
        `store.password: ${secret}`,
        `{"token":"${secret}","partition":4}`,
        `{"client-key-data": "${secret}"}`,
        `--password ${secret} --fleet x`,
        `SLUICE_STORE_PASSWORD='${secret}'`,
        `Authorization: Bearer ${secret}`,
        `cannot reach rediss://user:${secret}@redis:6379/0`,
        `cannot reach nats://${secret}@nats:4222`,
      ]) {
        const redacted = redact(text, []);
        expect(redacted).not.toContain(secret);
        expect(redacted).toContain('***');
      }
    }),
  );
});

const key = `-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY\n-----END EC PRIVATE KEY-----`;
const jwt = 'eyJhbGciOiJSUzI1NiIs.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlX2hlcmU';
const seed = 'SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY';

test.each([
  ['a private key', key],
  ['a private key of which the end is missing', key.slice(0, -20)],
  ['a JSON Web Token', jwt],
  ['a seed of NATS', seed],
])('%s is masked anywhere', (_, secret) => {
  expect(redact(`before ${secret}`, [])).toBe('before ***');
});

test.each([
  'time=2026-03-01T03:12:00Z level=info msg="leases acquired" fencingToken=17 partitions=0..3',
  'sluice_lease_fencing_token{role="writer",scope="3"} 17',
  '  passwordFile: /etc/sluice/password # file sluice.yaml',
  'https://prod.example.com:6443/api/v1/pods?limit=500',
  'Pod shop/cart-x7 became ready; contact sre@example.com',
])('what is no secret stays: %s', (text) => {
  expect(redact(text, [])).toBe(text);
});

test('the secrets of a configuration and of a kubeconfig are found', () => {
  const configuration = {
    bus: { kind: 'kafka', servers: ['kafka://u:p%40ss@h:1'], tls: { key: 'pem', ca: 'public' }, username: 'u' },
    store: { password: 'one', sentinelPassword: 'two', passwordFile: '/etc/one' },
    users: [{ user: { token: 'three', 'client-key-data': 'four', tokenFile: '/t', 'client-certificate-data': 'c' } }],
    'auth-provider': { config: { 'client-secret': 'five' } },
  };
  expect([...new Set(secretsIn(configuration))].sort()).toEqual(
    ['five', 'four', 'one', 'p%40ss', 'p@ss', 'pem', 'three', 'two'].sort(),
  );
});

test.each([
  ['a word', 'a'],
  ['names of secrets', 'password'],
  ['the beginnings of tokens', 'eyJ-'],
])('a megabyte of %s is searched in linear time', (_, word) => {
  const text = word.repeat(1_000_000 / word.length);
  expect(redact(text, [])).toBe(text);
});
