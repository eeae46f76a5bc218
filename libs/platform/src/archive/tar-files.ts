import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { block, header, padding } from './header.ts';

/** A tar archive of files, which only their owner can read, in parts. Their names are without directories. */
export async function* tarFiles(paths: readonly string[], modifiedAt: number): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    const { size } = statSync(path);
    yield header(basename(path), { type: '0', mode: 0o600, size, modifiedAt });
    if (size > 0) yield* createReadStream(path, { end: size - 1 });
    yield Buffer.alloc(padding(size));
  }
  yield Buffer.alloc(2 * block);
}
