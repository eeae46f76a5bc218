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
    ['dTpwQHNz', 'five', 'four', 'one', 'p%40ss', 'p@ss', 'pem', 'three', 'two'].sort(),
  );
});

test.each([
  ['a word', 'a'],
  ['names of secrets', 'password'],
  ['the beginnings of tokens', 'eyJ-'],
  ['spaces', ' '],
  ['the beginnings of addresses', 'a://'],
  ['names of headers', 'cookie'],
  ['names of variables', 'name: '],
])('a megabyte of %s is searched in linear time', (_, word) => {
  const text = word.repeat(1_000_000 / word.length);
  expect(redact(text, [])).toBe(text);
});

const value = 'hunter2SECRET';
test.each([
  ['JSON within JSON', JSON.stringify({ reason: JSON.stringify({ token: value }) })],
  ['JSON within a message', JSON.stringify({ msg: `plugin said {"password":"${value}"}` })],
  ['a variable', `AWS_SECRET_ACCESS_KEY=${value}`],
  ['a variable of a plugin', `env: [{name: VAULT_TOKEN, value: ${value}}]`],
  ['a variable on two lines', `- name: NATS_PASSWORD\n  value: ${value}`],
  ['a variable in JSON', `{"name":"NATS_PASSWORD","value":"${value}"}`],
  ['a phrase', `password: correct horse ${value}`],
  ['a password with a comma', `password=ab,${value}`],
  ['a password with a slash in an address', `redis://user:ab/${value}@host:6379`],
  ['a query', `https://x/y?access_token=${value}&sig=${value}`],
  ['a signature', `https://x/y?sig=${value}`],
  ['X-Auth-Token', `x-auth-token: ${value}`],
  ['an API key as authorization', `Authorization: ApiKey ${value}`],
  ['a digest', `authorization: Digest username="a", response="${value}"`],
  ['a signed request', `Authorization: AWS4-HMAC-SHA256 Credential=AK/2020, Signature=${value}`],
  ['one of several cookies', `Cookie: a=b; sluice_console=${value}`],
  ['a new cookie', `set-cookie: sluice_console=${value}; HttpOnly`],
  ['a list', `{"tokens":["${value}"]}`],
  ['a sentence', `password is ${value}`],
  ['a list of one', `"password":["${value}"]`],
  ['an OpenSSH key', `-----BEGIN OPENSSH PRIVATE KEY-----\n${value}\n-----END OPENSSH PRIVATE KEY-----`],
  ['a PGP key', `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${value}\n-----END PGP PRIVATE KEY BLOCK-----`],
  ['an escaped key', JSON.stringify({ a: `-----BEGIN RSA PRIVATE KEY-----\n${value}\n-----END RSA PRIVATE KEY-----` })],
  ['api_key', `api_key=${value}`],
  ['access_key', `access_key=${value}`],
  ['secretAccessKey', `"secretAccessKey":"${value}"`],
  ['AccountKey', `AccountKey=${value}`],
  ['auth', `"auth":"${value}"`],
  ['pass', `pass=${value}`],
  ['pwd', `pwd=${value}`],
  ['tls-key', `tls-key: ${value}`],
  ['--pass', `nats-server --pass ${value}`],
  ['requirepass', `requirepass ${value}`],
  ['masterauth', `masterauth ${value}`],
  ['a link to the console', `http://127.0.0.1:10270/?token=${value}`],
  ['an encoded address', `http%3A%2F%2Fu%3A${value}%40h`],
])('unknown secrets are masked in %s', (_, text) => {
  expect(redact(text)).not.toContain(value);
  expect(redact(text)).toContain('***');
});

test('JSON stays valid', () => {
  const line = JSON.stringify({ reason: JSON.stringify({ token: value }), tokens: [value], at: 1 });
  expect(JSON.parse(redact(line))).toEqual({ reason: '{"token":"***"}', tokens: ['***'], at: 1 });
});

test('what a plugin is given is a secret, except subcommands, flags, paths and names of places', () => {
  const args = [
    'get-token',
    'argument2',
    '--region',
    'eu-west-1',
    '--client-secret',
    'word',
    '--key=a=b1',
    '/etc/x.pem',
  ];
  const env = [{ name: 'CLIENT_CRED', value: 'value3' }, { name: 'AWS_PROFILE', value: 'Prod1' }, null];
  const found = secretsIn({ users: [{ user: { exec: { command: 'x', args, env } } }] });
  expect([...new Set(found)].sort()).toEqual(['a=b1', 'argument2', 'value3', 'word']);
});

test('a user and its password are masked as they are sent', () => {
  const sent = Buffer.from('sluice:p4ss/word, x').toString('base64');
  for (const given of [{ username: 'sluice', password: 'p4ss/word, x' }, 'redis://sluice:p4ss%2Fword%2C%20x@h']) {
    expect(redact(`it sent ${sent}!`, secretsIn(given))).toBe('it sent ***!');
  }
});
