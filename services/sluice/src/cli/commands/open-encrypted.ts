import { readFileSync } from 'node:fs';
import { errorMessage } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { decryptRecording, isEncrypted } from '@sluice/recording';
import { withTemporaryDirectory } from './temporary-directory.ts';

/** Calls `use` with the path of a recording. One that is encrypted is decrypted to a temporary directory meanwhile. */
export async function withDecrypted<T>(
  path: string,
  identityFile: string | undefined,
  use: (path: string) => Promise<T>,
): Promise<T> {
  if (!isEncryptedFile(path)) {
    if (identityFile === undefined) return use(path);
    throw new UsageError(`${path} is not encrypted; remove --identity-file`);
  }
  if (identityFile === undefined) {
    throw new UsageError(`${path} is encrypted; name the file with your private key of age: --identity-file FILE`);
  }
  const identities = readIdentities(identityFile);
  return withTemporaryDirectory('sluice-decrypted-', async (directory) => {
    try {
      await decryptRecording(path, directory, identities);
    } catch (error) {
      throw new UsageError(`cannot decrypt ${path} with ${identityFile}: ${errorMessage(error)}`);
    }
    return use(directory);
  });
}

/** What cannot be read is reported when it is opened. */
function isEncryptedFile(path: string): boolean {
  try {
    return isEncrypted(path);
  } catch {
    return false;
  }
}

/** As age-keygen writes them. Errors do not quote the file. */
function readIdentities(file: string): readonly string[] {
  const expected = 'expected lines of AGE-SECRET-KEY-1…, as age-keygen writes them';
  let lines: readonly string[];
  try {
    lines = readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    throw new UsageError(`--identity-file: ${errorMessage(error)}`);
  }
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0 || identities.some((line) => !/^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]+$/.test(line)))
    throw new UsageError(`--identity-file: ${file} has no identity of age; ${expected}`);
  return identities;
}
