import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalError } from './local-error.ts';

/** Runs openssl. @throws LocalError `openssl` if it is missing or fails */
export async function openssl(args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('openssl', [...args]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const hint = text.includes('ENOENT') ? 'openssl is required to create certificates; install it' : 'openssl failed';
    throw new LocalError('openssl', `${hint}: ${text.trim()}`);
  }
}

/** Paths of a certificate authority and a certificate for 127.0.0.1 and localhost. */
export interface ServingCertificate {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** Creates both in `directory`. @throws LocalError `openssl` */
export async function makeServingCertificate(directory: string, commonName: string): Promise<ServingCertificate> {
  const file = (name: string) => join(directory, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.crt'), '-days', '365', '-subj', '/CN=sluice-local-ca'];
  await openssl(['req', '-x509', ...key, ...authority]);
  const request = ['-keyout', file('server.key'), '-out', file('server.csr'), '-subj', `/CN=${commonName}`];
  await openssl(['req', ...key, ...request]);
  writeFileSync(file('server.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const signer = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-CAserial', file('ca.srl')];
  const signed = ['-days', '365', '-extfile', file('server.ext'), '-out', file('server.crt')];
  await openssl(['x509', '-req', '-in', file('server.csr'), ...signer, ...signed]);
  return { ca: file('ca.crt'), certificate: file('server.crt'), key: file('server.key') };
}
