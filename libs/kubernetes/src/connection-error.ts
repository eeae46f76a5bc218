import { asRecord, asString, errorMessage } from '@sluice/platform';
import { ApiError } from './api-error.ts';

/** TLS errors that no retry can fix, with what to do. */
const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; set certificate-authority of the cluster to it',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from another CA; correct certificate-authority of the cluster',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes from another CA; correct certificate-authority of the cluster',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from another CA; correct certificate-authority of the cluster',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate comes from another CA; correct certificate-authority of the cluster',
  CERT_SIGNATURE_FAILURE: 'its certificate comes from another CA; correct certificate-authority of the cluster',
  CERT_UNTRUSTED: 'its certificate is not trusted; correct certificate-authority of the cluster',
  CERT_REJECTED: 'its certificate is not trusted; correct certificate-authority of the cluster',
  INVALID_CA: 'its CA certificate is not valid; correct certificate-authority of the cluster',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it on the server',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks of both machines',
  CERT_REVOKED: 'its certificate was revoked; renew it on the server',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another name; correct the server of the cluster, or set tls-server-name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; write http:// instead of https:// if that is meant',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS; write http:// instead of https:// if that is meant',
};

const connectErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; the server is not running, or a firewall rejects the connection',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'DNS does not respond',
};

const brokenConnections: Readonly<Record<string, string>> = {
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  CONNECTION_CLOSED: 'connection closed before the response was complete',
};

/** undici's codes for errors that have a system code. */
const systemCodes: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'CONNECTION_CLOSED',
  UND_ERR_CLOSED: 'CONNECTION_CLOSED',
  UND_ERR_DESTROYED: 'CONNECTION_CLOSED',
};

const rejectedByServer = /^ERR_SSL_TLSV?\d*_?ALERT|^ERR_SSL_SSLV3_ALERT/;

/** Whether client and server rejected each other's certificates, which other credentials may fix. */
export function isTlsFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code in certificateProblems || rejectedByServer.test(code);
}

/** The ApiError for a request without a complete response. `reason` is the error's code. */
export function errorFromFailure(error: unknown, server: string): ApiError {
  const found = codeOf(error);
  const code = systemCodes[found] ?? found;
  const problem = certificateProblems[code];
  if (problem !== undefined) return failure('terminal', `cannot trust ${server}: ${problem} (${code})`, code, error);
  if (rejectedByServer.test(code)) {
    const text = `${server} rejected the TLS connection; check the client certificate and key of the user (${code})`;
    return failure('terminal', text, code, error);
  }
  const broken = brokenConnections[code];
  if (broken !== undefined)
    return failure('retry', `lost the connection to ${server}: ${broken} (${code})`, code, error);
  const message = connectErrors[code] ?? errorMessage(error);
  return failure('retry', `cannot reach ${server}: ${message} (${code})`, code, error);
}

/** No response, or no further data, within `ms`. */
export function timeoutError(server: string, what: string, ms: number): ApiError {
  return failure('retry', `${what} from ${server} within ${ms / 1000} s`, 'Timeout', undefined);
}

/** The caller aborted the request. */
export function abortedError(server: string, reason: unknown): ApiError {
  return failure('retry', `the request to ${server} was aborted`, 'Aborted', reason);
}

/** A successful response with unusable content. */
export function invalidAnswerError(server: string, why: string): ApiError {
  return failure('retry', `invalid response from ${server}: ${why}`, 'InvalidAnswer', undefined);
}

/** A request other than GET on a read-only connection. */
export function readOnlyError(server: string, method: string): ApiError {
  return failure('terminal', `cannot send ${method} to ${server}: the connection is read-only`, 'ReadOnly', undefined);
}

function failure(kind: 'retry' | 'terminal', message: string, reason: string, cause: unknown): ApiError {
  return new ApiError(message, { kind, status: 0, reason, cause });
}

/** The code of an error: its own, that of the first of several attempts, or that of its cause. */
function codeOf(error: unknown): string {
  const { code, errors, cause } = asRecord(error);
  if (asString(code) !== '' && asString(code) !== 'UND_ERR_PRX_TLS') return asString(code);
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  if (cause !== undefined) return codeOf(cause);
  return asString(code) || 'UNKNOWN';
}
