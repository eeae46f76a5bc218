import { X509Certificate } from 'node:crypto';

/** SHA-256 fingerprints of the certificates in a PEM bundle, sorted, each once. */
export function certificateFingerprints(pem: string | Buffer): readonly string[] {
  const blocks = `${pem}`.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(blocks.map((block) => new X509Certificate(block).fingerprint256))].sort();
}
