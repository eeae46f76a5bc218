import { asRecord, asString, errorMessage } from '@sluice/runtime';
import { ApiError } from './api-error.ts';

/** Codes that mean that trust is missing, and so that no retry helps; with what to do. */
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

const breakages: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; nothing listens there, or a firewall refuses',
  ETIMEDOUT: 'no answer to the attempt to connect',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name service does not answer',
};

const cuts: Readonly<Record<string, string>> = {
  ECONNRESET: 'it was reset',
  EPIPE: 'it was closed',
  CONNECTION_CLOSED: 'it was closed before the answer was complete',
};

/** Names of this package's client for breakages that the system also names. */
const renamed: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'CONNECTION_CLOSED',
  UND_ERR_CLOSED: 'CONNECTION_CLOSED',
  UND_ERR_DESTROYED: 'CONNECTION_CLOSED',
};

/** The ApiError for a request that got no answer, or only a part of it. `reason` is the error's code. */
export function errorFromFailure(error: unknown, server: string): ApiError {
  const found = codeOf(error);
  const code = renamed[found] ?? found;
  const problem = certificateProblems[code];
  if (problem !== undefined) return failure('terminal', `cannot trust ${server}: ${problem} (${code})`, code, error);
  if (/^ERR_SSL_TLSV?\d*_?ALERT|^ERR_SSL_SSLV3_ALERT/.test(code)) {
    const text = `${server} refused the TLS connection; check the client certificate and key of the user (${code})`;
    return failure('terminal', text, code, error);
  }
  const cut = cuts[code];
  if (cut !== undefined) return failure('retry', `lost the connection to ${server}: ${cut} (${code})`, code, error);
  const message = breakages[code] ?? errorMessage(error);
  return failure('retry', `cannot reach ${server}: ${message} (${code})`, code, error);
}

/** No answer, or no next byte of it, within `ms`. */
export function timeoutError(server: string, what: string, ms: number): ApiError {
  return failure('retry', `${what} from ${server} within ${ms / 1000} s`, 'Timeout', undefined);
}

/** The caller gave the request up. */
export function abortedError(server: string, reason: unknown): ApiError {
  return failure('retry', `the request to ${server} was given up by its caller`, 'Aborted', reason);
}

/** An answer that is not what was asked for, although its status says so. */
export function invalidAnswerError(server: string, why: string): ApiError {
  return failure('retry', `the answer of ${server} cannot be used: ${why}`, 'InvalidAnswer', undefined);
}

/** A request that a read-only connection does not send. */
export function readOnlyError(server: string, method: string): ApiError {
  return failure('terminal', `${method} is not sent to ${server}: this connection only reads`, 'ReadOnly', undefined);
}

function failure(reaction: 'retry' | 'terminal', message: string, reason: string, cause: unknown): ApiError {
  return new ApiError(message, { reaction, status: 0, reason, cause });
}

/** The code of an error, of the first of several attempts, or of its cause. */
function codeOf(error: unknown): string {
  const { code, errors, cause } = asRecord(error);
  if (asString(code) !== '' && asString(code) !== 'UND_ERR_PRX_TLS') return asString(code);
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  if (cause !== undefined) return codeOf(cause);
  return asString(code) || 'UNKNOWN';
}
