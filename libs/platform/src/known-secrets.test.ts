import { expect, test } from 'vitest';
import { KnownSecrets, knownSecrets } from './known-secrets.ts';
import { redact } from './redact.ts';

test('a secret is masked by its value, and stays masked after its replacement, which may still be quoted', () => {
  const secrets = new KnownSecrets();
  const owner = {};
  secrets.remember(owner, ['first-value']);
  secrets.remember(owner, ['second-value', undefined]);
  secrets.remember(owner, ['second-value', undefined]);
  expect(secrets.mask('first-value second-value')).toBe('*** ***');
  secrets.remember(owner, ['third-value']);
  expect(secrets.mask('first-value second-value third-value')).toBe('first-value *** ***');
  secrets.forget(owner);
  expect(secrets.mask('second-value third-value')).toBe('second-value third-value');
});

test('a secret of two owners is masked until both have forgotten it', () => {
  const secrets = new KnownSecrets();
  const owners = [{}, {}] as const;
  for (const owner of owners) secrets.remember(owner, ['the-same']);
  secrets.forget(owners[0]);
  expect(secrets.mask('the-same')).toBe('***');
  secrets.forget(owners[1]);
  expect(secrets.mask('the-same')).toBe('the-same');
});

test('a short value is a word of any text', () => {
  const secrets = new KnownSecrets();
  secrets.remember({}, ['redis', 'sluice\n']);
  expect(secrets.mask('sluice cannot reach redis')).toBe('sluice cannot reach redis');
});

test('redact masks what the process knows in every form that it is written in', () => {
  const owner = {};
  const secret = 'p"ss wörd/1';
  knownSecrets.remember(owner, [secret]);
  try {
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      btoa('p"ss w\u00c3\u00b6rd/1'),
    ])
      expect(redact(`it said (${form})`)).toBe('it said (***)');
  } finally {
    knownSecrets.forget(owner);
  }
  expect(redact(secret)).toBe(secret);
});
