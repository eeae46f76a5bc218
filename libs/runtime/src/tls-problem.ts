import { createSecureContext } from 'node:tls';

const anotherAuthority = 'its certificate comes from an authority that is not trusted here; give its CA';
const plain = 'it does not speak TLS there';

const problems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; give it as the CA',
  SELF_SIGNED_CERT_IN_CHAIN: anotherAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: anotherAuthority,
  UNABLE_TO_GET_ISSUER_CERT: anotherAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: anotherAuthority,
  CERT_SIGNATURE_FAILURE: anotherAuthority,
  CERT_UNTRUSTED: anotherAuthority,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks of both machines',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than the one it is called by',
  ERR_SSL_WRONG_VERSION_NUMBER: plain,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: plain,
};

/** How a server turns down a client's certificate, or the lack of one, in OpenSSL's words. */
const refusal = /^ERR_SSL_.*ALERT.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;

/**
 * In words, if a connection failed because the two sides do not trust or understand each other (TLS): trying again does
 * not help then. Looks at the causes of the error too.
 */
export function tlsProblem(error: unknown): string | undefined {
  for (const { code } of causes(error)) {
    const problem = problems[code];
    if (problem !== undefined) return `${problem} (${code})`;
    if (refusal.test(code)) return `it refuses our certificate, or wants one and there is none (${code})`;
  }
  return undefined;
}

function causes(error: unknown): readonly { readonly code: string }[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const several = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return [{ code }, ...[error.cause, ...several].flatMap(causes)];
}

/** PEM texts of one's own side. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** In words, what is wrong with certificates and key before any server has seen them. None of it is in the words. */
export function tlsMaterialProblem(material: TlsMaterial): string | undefined {
  const { ca, cert, key } = material;
  for (const [name, text] of Object.entries({ CA: ca, 'client certificate': cert })) {
    if (text !== undefined && !text.includes('-----BEGIN')) return `the ${name} is no PEM text`;
  }
  if ((cert === undefined) !== (key === undefined)) return 'a client certificate and its key are given together or not';
  try {
    createSecureContext(material);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return `certificate and key cannot be read, or do not belong together${code}`;
  }
}
