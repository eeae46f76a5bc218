import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from '@sluice/platform';
import type { Cluster, Redis } from 'ioredis';
import { RedisStoreError } from './redis-error.ts';

/** Client of one Redis server or of a Cluster. */
export type Client = Redis | Cluster;

/** What an adapter sends commands with. */
export interface Commands {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  /** Timeout of one command, in milliseconds. */
  readonly commandTimeoutMs: number;
}

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

/** Key prefix with a hash tag: a Redis Cluster keeps all keys of one scope or group on one node, as scripts require. */
export function hashTagged(fleet: string, part: string): string {
  return `{${fleet}:${part}}`;
}

export type GroupKeys = readonly [string, ...string[]];

/** The first key is also the Pub/Sub channel for changes. */
export function groupKeys(fleet: string, group: string): GroupKeys {
  const tag = hashTagged(fleet, `leases/${group}`);
  return [
    `${tag}:expiries`,
    ...['states', 'holders', 'starts', 'served', 'version', 'prepared'].map((part) => `${tag}:${part}`),
  ];
}

/** Encodes a header and a payload as one Redis value: header length (UInt32BE), header as JSON, payload. */
export function encodeFrame(header: unknown, payload: Uint8Array): Buffer {
  const head = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, payload]);
}

/** The header is not validated: only this package writes these values. */
export function decodeFrame<T>(frame: Buffer): { readonly header: T; readonly payload: Uint8Array } {
  const start = 4 + frame.readUInt32BE(0);
  const header = JSON.parse(frame.toString('utf8', 4, start)) as T;
  // A copy, so that the payload does not retain the buffer of the whole answer.
  return { header, payload: new Uint8Array(frame.subarray(start)) };
}

/** A list that Redis has answered. */
export function listOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'unexpected response from Redis');
  return answer;
}

export const strings = (answer: unknown): readonly string[] => listOf(answer).map(String);

/** Pairs of a flat list of names and values. */
export function pairs(answer: unknown): readonly (readonly [name: string, value: string])[] {
  const flat = strings(answer);
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
}
