import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** The files of a release by path. */
export type ReleaseFiles = ReadonlyMap<string, Uint8Array>;

/** The text of SHA256SUMS, as `sha256sum --check` reads it. */
export function checksums(files: ReleaseFiles): string {
  return [...files]
    .map(([path, content]) => [path, sha256(content)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, sum]) => `${sum}  ${path}\n`)
    .join('');
}

/** An Ed25519 key pair in PEM. */
export function newSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

export const publicKeyOf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/** The signature of SHA256SUMS in base64, as `cosign verify-blob --key` reads it. */
export const signature = (sums: string, privateKey: KeyObject): string =>
  `${sign(null, Buffer.from(sums), privateKey).toString('base64')}\n`;

/** What is wrong with a release; empty if the signature is valid and all files are as they were signed. */
export function problemsOf(
  files: ReleaseFiles,
  { sums, signed, publicKey }: { readonly sums: string; readonly signed: string; readonly publicKey: KeyObject },
): readonly string[] {
  if (!verify(null, Buffer.from(sums), publicKey, Buffer.from(signed, 'base64'))) {
    return ['SHA256SUMS.sig is not the signature of SHA256SUMS with this key'];
  }
  const listed = new Map(
    sums.split('\n').flatMap((line) => (line === '' ? [] : [[line.slice(66), line.slice(0, 64)]])),
  );
  const changed = [...listed].flatMap(([path, sum]) => {
    const content = files.get(path);
    if (content === undefined) return [`${path} is missing`];
    return sha256(content) === sum ? [] : [`${path} differs from its checksum`];
  });
  const added = [...files.keys()].filter((path) => !listed.has(path)).map((path) => `${path} is not in SHA256SUMS`);
  return [...changed, ...added];
}
