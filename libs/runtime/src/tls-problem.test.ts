import { expect, it } from 'vitest';
import { tlsMaterialProblem, tlsProblem } from './tls-problem.ts';

const failure = (code: string) => Object.assign(new Error('what the library says'), { code });

it.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'authority that is not trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'refuses our certificate'],
  ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN', 'refuses our certificate'],
])('%s is told in words', (code, words) => {
  expect(tlsProblem(failure(code))).toContain(words);
  expect(tlsProblem(new Error('no luck', { cause: failure(code) }))).toContain(words);
  expect(tlsProblem(new AggregateError([failure('ECONNREFUSED'), failure(code)]))).toContain(words);
});

it('other failures may pass by themselves', () => {
  for (const error of [failure('ECONNREFUSED'), new Error('no luck'), 'no luck', undefined]) {
    expect(tlsProblem(error)).toBeUndefined();
  }
});

it('certificates that cannot be used are told without showing them', () => {
  expect(tlsMaterialProblem({})).toBeUndefined();
  expect(tlsMaterialProblem({ ca: 'secret' })).toBe('the CA is no PEM text');
  expect(tlsMaterialProblem({ cert: '-----BEGIN CERTIFICATE-----' })).toContain('together');
  const broken = { cert: '-----BEGIN CERTIFICATE-----secret', key: '-----BEGIN PRIVATE KEY-----secret' };
  expect(tlsMaterialProblem(broken)).toContain('cannot be read');
  expect(tlsMaterialProblem(broken)).not.toContain('secret');
});
