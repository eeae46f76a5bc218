import { type FileHandle, open } from 'node:fs/promises';
import { parseWrite, type Write } from '../audit/write.ts';

const chunkBytes = 4 * 1024 * 1024;

/** The writes of one user in a growing audit log. */
export class AuditTail {
  readonly writes: Write[] = [];
  readonly #file: FileHandle;
  readonly #user: string;
  readonly #chunk = Buffer.alloc(chunkBytes);
  #rest: Buffer = Buffer.alloc(0);
  #reading: Promise<number> = Promise.resolve(0);

  private constructor(file: FileHandle, user: string) {
    this.#file = file;
    this.#user = user;
  }

  static async open(path: string, user: string): Promise<AuditTail> {
    return new AuditTail(await open(path), user);
  }

  /** Reads new lines. Returns the number of the user's writes so far. */
  read(): Promise<number> {
    this.#reading = this.#reading.then(() => this.#readOn());
    return this.#reading;
  }

  async close(): Promise<void> {
    await this.#reading;
    await this.#file.close();
  }

  async #readOn(): Promise<number> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#chunk, 0, chunkBytes, null);
      if (bytesRead === 0) return this.writes.length;
      let lines = Buffer.concat([this.#rest, this.#chunk.subarray(0, bytesRead)]);
      for (let end = lines.indexOf(10); end >= 0; end = lines.indexOf(10)) {
        this.#line(lines.toString('utf8', 0, end));
        lines = lines.subarray(end + 1);
      }
      this.#rest = Buffer.from(lines);
    }
  }

  #line(line: string): void {
    const write = parseWrite(line);
    if (write?.user === this.#user) this.writes.push(write);
  }
}
