import { closeSync, createReadStream, createWriteStream, openSync, readSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extractFiles, tarFiles } from '@sluice/platform/archive';
import { filesIn, isFileName } from './file-names.ts';

/** A recording in one file: a tar archive of its files, encrypted by age (age-encryption.org/v1). */

const magic = 'age-encryption.org/v1\n';

export function isEncrypted(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(magic.length);
    return readSync(file, start) === magic.length && start.toString('latin1') === magic;
  } finally {
    closeSync(file);
  }
}

/**
 * Encrypts the recording in a directory to a new file. `recipients`: public keys of age. `now`: in milliseconds since the Unix epoch.
 *
 * @throws Error with a message for people if a recipient is none, or the file exists or cannot be written
 */
export async function encryptRecording(
  directory: string,
  path: string,
  { recipients, now }: { readonly recipients: readonly string[]; readonly now: number },
): Promise<void> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new Error(`${recipient} is not a recipient of age; expected age1…, as age-keygen prints it`);
    }
  }
  const files = filesIn(directory).map((file) => file.path);
  const target = createWriteStream('', { fd: openSync(path, 'wx', 0o600) });
  try {
    const archive = Readable.toWeb(Readable.from(tarFiles(files, Math.floor(now / 1_000))));
    await pipeline(Readable.fromWeb(await encrypter.encrypt(archive)), target);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Decrypts a recording to a directory. `identities`: private keys of age.
 *
 * @throws Error with a message for people if no identity decrypts the file, or it contains something else
 */
export async function decryptRecording(path: string, directory: string, identities: readonly string[]): Promise<void> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      // The error quotes the private key.
      throw new Error('an identity of age is damaged');
    }
  }
  const archive = await decrypter.decrypt(Readable.toWeb(createReadStream(path)));
  await extractFiles(Readable.fromWeb(archive), directory, isFileName);
}
