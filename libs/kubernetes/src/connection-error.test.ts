import { describe, expect, it } from 'vitest';
import {
  abortedError,
  errorFromFailure,
  invalidAnswerError,
  isTlsFailure,
  readOnlyError,
  timeoutError,
} from './connection-error.ts';

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

  it('keeps the original error as its cause', () => {
    const original = failed('ECONNREFUSED');
    expect(errorFromFailure(original, server).cause).toBe(original);
  });

  it.each([
    ['a code of its own', failed('EPIPE', { cause: failed('ECONNRESET') }), 'EPIPE'],
    ['its first attempt', new AggregateError([failed('ECONNREFUSED'), failed('ETIMEDOUT')]), 'ECONNREFUSED'],
    ['its cause', new Error('x', { cause: failed('ECONNRESET') }), 'ECONNRESET'],
    ['its cause, if it has no attempts', new AggregateError([], 'x', { cause: failed('EPIPE') }), 'EPIPE'],
    ['the cause of a failure of TLS through a proxy', failed('UND_ERR_PRX_TLS', { cause: failed('EPIPE') }), 'EPIPE'],
    ['a failure of TLS through a proxy without a cause', failed('UND_ERR_PRX_TLS'), 'UND_ERR_PRX_TLS'],
    ['nothing, if it has no code', new Error('x'), 'UNKNOWN'],
    ['nothing, if its code is no text', failed('', { code: 7 }), 'UNKNOWN'],
    ['nothing, if it is no object', 'odd', 'UNKNOWN'],
  ])('takes its reason from %s', (_, error, reason) => {
    expect(errorFromFailure(error, server)).toMatchObject({ kind: 'retry', reason });
  });

  it.each([
    ['ECONNREFUSED', `cannot reach ${server}: connection refused; the server is not running, or`],
    ['ECONNRESET', `lost the connection to ${server}: connection reset (ECONNRESET)`],
    ['ERR_ODD', `cannot reach ${server}: boom (ERR_ODD)`],
  ])('says what happened after %s', (code, text) => {
    expect(errorFromFailure(failed(code), server).message).toContain(text);
  });
});

describe('isTlsFailure', () => {
  it.each(['CERT_HAS_EXPIRED', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE'])(
    'is true for %s, also in a cause',
    (code) => {
      expect(isTlsFailure(failed(code))).toBe(true);
      expect(isTlsFailure(new Error('x', { cause: failed(code) }))).toBe(true);
    },
  );

  it.each(['ECONNREFUSED', 'ERR_SSL_OTHER', 'NOT_ERR_SSL_SSLV3_ALERT', 'NOT_ERR_SSL_TLSV1_ALERT'])(
    'is false for %s',
    (code) => expect(isTlsFailure(failed(code))).toBe(false),
  );
});

describe('errors that no server sent', () => {
  it.each([
    [timeoutError(server, 'no answer', 1_500), { kind: 'retry', reason: 'Timeout' }],
    [abortedError(server, 'stop'), { kind: 'retry', reason: 'Aborted', cause: 'stop' }],
    [invalidAnswerError(server, 'no items'), { kind: 'retry', reason: 'InvalidAnswer' }],
    [readOnlyError(server, 'PUT'), { kind: 'terminal', reason: 'ReadOnly' }],
  ])('%s', (error, expected) => {
    expect(error).toMatchObject({ status: 0, ...expected });
    expect(error.message).toContain(server);
  });

  it('name seconds, the defect or the method', () => {
    expect(timeoutError(server, 'no answer', 1_500).message).toBe(`no answer from ${server} within 1.5 s`);
    expect(invalidAnswerError(server, 'no items').message).toContain('no items');
    expect(readOnlyError(server, 'PUT').message).toContain('PUT');
  });
});
