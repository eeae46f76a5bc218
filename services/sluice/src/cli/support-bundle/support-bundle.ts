import { printable } from '@sluice/process';
import { tarGz, under } from '@sluice/process/archive';
import { redact } from '@sluice/runtime';

/** A text file of the bundle. */
export interface BundleFile {
  readonly path: string;
  readonly text: string;
}

/** A tar.gz of the files in one folder, with all secrets removed from their text and paths. */
export function packBundle(
  files: readonly BundleFile[],
  { folder, secrets, now }: { readonly folder: string; readonly secrets: readonly string[]; readonly now: number },
): Buffer {
  const entries = files.map(({ path, text }) => ({
    path: printable(redact(path, secrets)),
    content: Buffer.from(printable(redact(text, secrets))),
  }));
  return tarGz(under(folder, entries), Math.floor(now / 1_000));
}
