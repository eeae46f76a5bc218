/** Header of an entry of a tar archive (ustar). */

export const block = 512;

/** Bytes after a content of this size. */
export const padding = (size: number): number => (block - (size % block)) % block;

interface Header {
  readonly type: '0' | '2' | '5';
  readonly mode: number;
  readonly size: number;
  readonly modifiedAt: number;
  readonly link?: string;
}

export function header(path: string, { type, mode, size, modifiedAt, link = '' }: Header): Buffer {
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
