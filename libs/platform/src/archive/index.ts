import { gzipSync } from 'node:zlib';

/** A file, or a symbolic link to `link`, of an archive. */
export type ArchiveEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly executable?: boolean }
  | { readonly path: string; readonly link: string };

const block = 512;

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

const padding = (size: number): number => (block - (size % block)) % block;

/** `a/b/c` → `a/`, `a/b/` */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

interface Header {
  readonly type: '0' | '2' | '5';
  readonly mode: number;
  readonly size: number;
  readonly modifiedAt: number;
  readonly link?: string;
}

function header(path: string, { type, mode, size, modifiedAt, link = '' }: Header): Buffer {
  const { name, prefix } = split(path);
  if (Buffer.byteLength(link) > 100) throw new Error(`the link ${path} is too long for a tar archive: ${link}`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  bytes.write(name, 0);
  bytes.write(octal(mode, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(modifiedAt, 12), 136);
  bytes.write(' '.repeat(8), 148);
  bytes.write(type, 156);
  bytes.write(link, 157);
  bytes.write('ustar\x0000', 257, 'latin1');
  bytes.write(prefix, 345);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

/** A path of more than 100 bytes is split at a slash. */
function split(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== '' && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { name, prefix };
  }
  throw new Error(`the path is too long for a tar archive: ${path}`);
}
