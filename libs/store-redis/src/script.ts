import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/** Client of one Redis server or of a Cluster. */
export type Client = Redis | Cluster;

export type Argument = string | number | Buffer;

/** A Lua script, which Redis executes atomically. */
export class Script {
  readonly #source: string;
  readonly #sha: string;

  /**
   * Concatenates `files` of `lua/`. The shebang line makes Redis 7 reject the script before it has any effect if Redis is
   * out of memory, cannot persist or is a replica; `allow-oom` lifts the first condition.
   */
  constructor(files: readonly string[], flags: readonly ('allow-oom' | 'no-writes')[] = []) {
    const parts = files.map((file) => readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8'));
    this.#source = `#!lua${flags.length > 0 ? ` flags=${flags.join(',')}` : ''}\n${parts.join('')}`;
    this.#sha = createHash('sha1').update(this.#source).digest('hex');
  }

  /** Runs the script. All keys must share a hash tag. */
  async run(client: Client, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    try {
      return await client.evalsha(this.#sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return client.eval(this.#source, keys.length, ...keys, ...args);
    }
  }
}

/** The server does not have the script cached, for example after a restart; nothing was executed. */
function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
