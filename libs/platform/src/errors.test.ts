import { expect, it } from 'vitest';
import { tlsMaterialProblem, tlsProblem } from './errors.ts';

const failure = (code: string) => Object.assign(new Error('library message'), { code });

it.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'authority that is not trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'rejected the client certificate'],
  ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN', 'rejected the client certificate'],
])('%s is described', (code, words) => {
  expect(tlsProblem(failure(code))).toContain(words);
  expect(tlsProblem(new Error('failed', { cause: failure(code) }))).toContain(words);
  expect(tlsProblem(new AggregateError([failure('ECONNREFUSED'), failure(code)]))).toContain(words);
});

it('errors that are not about TLS are not described', () => {
  for (const error of [failure('ECONNREFUSED'), new Error('failed'), 'failed', undefined]) {
    expect(tlsProblem(error)).toBeUndefined();
  }
});

it('unusable certificates and keys are described without quoting them', () => {
  expect(tlsMaterialProblem({})).toBeUndefined();
  expect(tlsMaterialProblem({ ca: 'secret' })).toBe('the CA is not in PEM format');
  expect(tlsMaterialProblem({ cert: '-----BEGIN CERTIFICATE-----' })).toContain('together');
  const broken = { cert: '-----BEGIN CERTIFICATE-----secret', key: '-----BEGIN PRIVATE KEY-----secret' };
  expect(tlsMaterialProblem(broken)).toContain('cannot be read');
  expect(tlsMaterialProblem(broken)).not.toContain('secret');
});
