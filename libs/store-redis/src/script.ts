import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/** What speaks to one Redis or to a Cluster. */
export type Client = Redis | Cluster;

export type Argument = string | number | Buffer;

/** A Lua script: all of it happens, or nothing, and nobody else's command comes between. */
export class Script {
  readonly #source: string;
  readonly #sha: string;

  /**
   * Made of the files of `lua/`, in this order. The first line makes Redis ≥ 7 refuse the whole script, before it did
   * anything, when it is out of memory, cannot persist or is a replica; `allow-oom` excepts it from the first of these.
   */
  constructor(files: readonly string[], flags: readonly ('allow-oom' | 'no-writes')[] = []) {
    const parts = files.map((file) => readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8'));
    this.#source = `#!lua${flags.length > 0 ? ` flags=${flags.join(',')}` : ''}\n${parts.join('')}`;
    this.#sha = createHash('sha1').update(this.#source).digest('hex');
  }

  /** The keys must share a hash tag. */
  async run(client: Client, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    try {
      return await client.evalsha(this.#sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return client.eval(this.#source, keys.length, ...keys, ...args);
    }
  }
}

/** A server that restarted, or one that never saw the script. Nothing has happened yet. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
