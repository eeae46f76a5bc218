import { gzipSync } from 'node:zlib';
import { block, header, padding } from './header.ts';

export { extractFiles } from './extract-files.ts';
export { tarFiles } from './tar-files.ts';

/** A file, or a symbolic link to `link`, of an archive. */
export type ArchiveEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly executable?: boolean }
  | { readonly path: string; readonly link: string };

/**
 * A tar archive (ustar) that depends only on its arguments: entries are sorted, belong to root, and have one modification
 * time. Directories are added.
 *
 * @param modifiedAt seconds since the Unix epoch
 */
export function tar(entries: readonly ArchiveEntry[], modifiedAt: number): Buffer {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const paths = [...new Set([...byPath.keys()].flatMap((path) => [...parentsOf(path), path]))].sort();
  const parts = paths.flatMap((path) => {
    const entry = byPath.get(path);
    if (entry === undefined) return [header(path, { type: '5', mode: 0o755, size: 0, modifiedAt })];
    if ('link' in entry) return [header(path, { type: '2', mode: 0o777, size: 0, modifiedAt, link: entry.link })];
    const { content, executable = false } = entry;
    const size = content.length;
    return [
      header(path, { type: '0', mode: executable ? 0o755 : 0o644, size, modifiedAt }),
      content,
      Buffer.alloc(padding(size)),
    ];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

export const tarGz = (entries: readonly ArchiveEntry[], modifiedAt: number): Buffer =>
  gzipSync(tar(entries, modifiedAt));

/** The entries below a folder. */
export const under = (folder: string, entries: readonly ArchiveEntry[]): readonly ArchiveEntry[] =>
  entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));

/** `a/b/c` → `a/`, `a/b/` */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}
