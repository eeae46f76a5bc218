import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { block, padding } from './header.ts';

/**
 * Writes the files of a tar archive to a directory. Only their owner can read them.
 *
 * @param isExpected whether an entry may have this name
 * @throws Error with a message for people if the archive has any other entry, or ends early
 */
export async function extractFiles(
  archive: AsyncIterable<Uint8Array>,
  directory: string,
  isExpected: (name: string) => boolean,
): Promise<void> {
  const bytes = new ByteReader(archive);
  for (;;) {
    const header = await bytes.read(block);
    const name = textAt(header, 0, 100);
    if (name === '') break;
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    const type = textAt(header, 156, 1);
    if (!isExpected(name) || !(type === '' || type === '0') || textAt(header, 345, 155) !== '' || !(size >= 0))
      throw new Error(`the archive has an unexpected entry ${JSON.stringify(name)}`);
    const file = openSync(join(directory, name), 'wx', 0o600);
    try {
      for await (const part of bytes.take(size)) writeSync(file, part);
    } finally {
      closeSync(file);
    }
    await bytes.read(padding(size));
  }
  await bytes.skipAll();
}

const textAt = (bytes: Buffer, start: number, length: number): string => {
  const text = bytes.toString('latin1', start, start + length);
  const end = text.indexOf('\0');
  return (end < 0 ? text : text.slice(0, end)).trim();
};

class ByteReader {
  readonly #parts: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(parts: AsyncIterable<Uint8Array>) {
    this.#parts = parts[Symbol.asyncIterator]();
  }

  /** The next bytes, in parts. */
  async *take(bytes: number): AsyncGenerator<Uint8Array> {
    for (let missing = bytes; missing > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#parts.next();
        if (done) throw new Error('the archive ends early');
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.take(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Reads to the end, so that what decrypts the archive can check all of it. */
  async skipAll(): Promise<void> {
    while (!(await this.#parts.next()).done);
  }
}
