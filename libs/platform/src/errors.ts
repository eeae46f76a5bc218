import { createSecureContext } from 'node:tls';

/** The message of a caught value: `message` of an Error, otherwise the value as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  CONNECTION_CLOSED: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  Timeout: 'no answer in time',
};

/** Why a server does not answer, in a few words: `connection refused`. Undefined if the code is another. */
export const connectionProblem = (code: string): string | undefined => byCode[code];

const untrustedAuthority = 'its certificate comes from an authority that is not trusted here; configure its CA';
const notTls = 'it does not speak TLS on this port';

const tlsByCode: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; configure it as the CA',
  SELF_SIGNED_CERT_IN_CHAIN: untrustedAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedAuthority,
  UNABLE_TO_GET_ISSUER_CERT: untrustedAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedAuthority,
  CERT_SIGNATURE_FAILURE: untrustedAuthority,
  CERT_UNTRUSTED: untrustedAuthority,
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it on the server',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks of both machines',
  CERT_REVOKED: 'its certificate was revoked; renew it on the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than the host in its address',
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
};

/** OpenSSL's codes for a server that rejects the client certificate or requires one. */
const refusal = /^ERR_SSL_.*ALERT.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;

/**
 * Describes why a TLS handshake failed if retrying cannot help; undefined for any other error. Searches the causes of
 * `error` too.
 */
export function tlsProblem(error: unknown): string | undefined {
  for (const { code } of causes(error)) {
    const problem = tlsByCode[code];
    if (problem !== undefined) return `${problem} (${code})`;
    if (refusal.test(code))
      return `it rejected the client certificate, or requires one and none is configured (${code})`;
  }
  return undefined;
}

function causes(error: unknown): readonly { readonly code: string }[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const nested = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return [{ code }, ...[error.cause, ...nested].flatMap(causes)];
}

/** The client's CA, certificate and key, as PEM text. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Describes what is wrong with certificates and key, without quoting them; undefined if they are usable. */
export function tlsMaterialProblem(material: TlsMaterial): string | undefined {
  const { ca, cert, key } = material;
  for (const [name, text] of Object.entries({ CA: ca, 'client certificate': cert })) {
    if (text !== undefined && !text.includes('-----BEGIN')) return `the ${name} is not in PEM format`;
  }
  if ((cert === undefined) !== (key === undefined)) return 'a client certificate and its key must be set together';
  try {
    createSecureContext(material);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return `the certificate or key cannot be read, or they do not belong together${code}`;
  }
}
