import { describe, expect, it } from 'vitest';
import { errorFromFailure, timeoutError } from './connection-error.ts';

const server = 'https://api.test:6443';
const failed = (code: string, more: object = {}) => Object.assign(new Error('boom'), { code, ...more });

describe('errorFromFailure', () => {
  it.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE'])(
    'retries after %s',
    (code) => {
      const error = errorFromFailure(failed(code), server);
      expect(error).toMatchObject({ kind: 'retry', status: 0, reason: code });
      expect(error.message).toContain(server);
    },
  );

  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'],
    ['UND_ERR_SOCKET', 'CONNECTION_CLOSED'],
  ])('calls %s by the name that the system uses', (code, reason) => {
    expect(errorFromFailure(failed(code), server).reason).toBe(reason);
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-authority'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-server-name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'http://'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client certificate'],
  ])('gives up after %s and says what to do', (code, advice) => {
    const error = errorFromFailure(failed(code), server);
    expect(error).toMatchObject({ kind: 'terminal', status: 0, reason: code });
    expect(error.message).toContain(advice);
  });

  it('looks into the attempts for several addresses, and into causes', () => {
    const many = Object.assign(new AggregateError([failed('ECONNREFUSED')]), {});
    expect(errorFromFailure(many, server).reason).toBe('ECONNREFUSED');
    expect(errorFromFailure(new Error('x', { cause: failed('ECONNRESET') }), server).reason).toBe('ECONNRESET');
  });

  it('retries what it does not know', () => {
    expect(errorFromFailure('odd', server)).toMatchObject({ kind: 'retry', reason: 'UNKNOWN' });
  });
});

describe('timeoutError', () => {
  it('tells seconds', () => {
    expect(timeoutError(server, 'no answer', 1500).message).toBe(`no answer from ${server} within 1.5 s`);
  });
});
