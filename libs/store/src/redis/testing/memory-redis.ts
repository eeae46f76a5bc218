import { createHash } from 'node:crypto';
import type { Clock } from '@sluice/platform';
import type { Command, Lua, Reply } from './lua.ts';

/** A hash with the fields in order of their first use, as HSCAN needs it. */
type Hash = Map<string, { readonly at: number; readonly value: string }>;
type Value = string | readonly string[] | Hash;

/** Keys with their values. */
export type RedisData = ReadonlyMap<string, Value>;

export interface MemoryRedisOptions {
  readonly lua: Lua;
  /** The server's clock. */
  readonly clock: Clock;
  /** Most fields that one HSCAN returns. Redis may return fewer than COUNT. Default: COUNT. */
  readonly scanLimit?: number;
}

/** A reply that a client reports as an error. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

const writes: ReadonlySet<string> = new Set(['SET', 'HSET', 'HSETNX', 'HDEL', 'LPOP', 'LREM', 'RPUSH']);

/**
 * A Redis server in this process, with the commands that Sluice uses. It runs the production scripts. A command takes
 * effect as it is executed; latency and faults are up to the caller.
 */
export class MemoryRedis {
  readonly #options: MemoryRedisOptions;
  #values = new Map<string, Value>();
  readonly #scripts = new Map<string, string>();
  readonly #subscribers = new Map<string, Set<(channel: string) => void>>();
  #runs = 1;
  #info = infoOf(1);
  #clockOffsetMs = 0;
  /** Counts commands, so that each has a time of its own and a new field has a position. */
  #commands = 0;

  constructor(options: MemoryRedisOptions) {
    this.#options = options;
  }

  /** Keeps the data, as with an append-only file. Scripts and subscriptions are per run; clients subscribe again. */
  restart(): void {
    this.#runs += 1;
    this.#info = infoOf(this.#runs);
    this.#scripts.clear();
  }

  /** Sets the server's clock ahead, or back. */
  stepClock(ms: number): void {
    this.#clockOffsetMs += ms;
  }

  /** Increases with each command, so that a reader can keep what it has read. */
  get revision(): number {
    return this.#commands;
  }

  /** A copy of all data. */
  save(): RedisData {
    return new Map([...this.#values].map(([key, value]) => [key, copyOf(value)]));
  }

  /** Replaces the keys that `matches`. */
  load(data: RedisData, matches: (key: string) => boolean): void {
    this.#commands += 1;
    for (const key of [...this.#values.keys()]) if (matches(key)) this.#values.delete(key);
    for (const [key, value] of data) if (matches(key)) this.#values.set(key, copyOf(value));
  }

  get keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** Fields of a hash, without a command. */
  hash(key: string): ReadonlyMap<string, string> {
    const value = this.#values.get(key);
    return new Map(value instanceof Map ? [...value].map(([field, { value }]) => [field, value]) : []);
  }

  /** @throws ReplyError NOSCRIPT: the script is not known in this run of the server */
  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Reply {
    const source = this.#scripts.get(sha);
    if (source === undefined) throw new ReplyError('NOSCRIPT No matching script. Please use EVAL.');
    return this.#run(source, keys, args);
  }

  eval(source: string, keys: readonly string[], args: readonly string[]): Reply {
    this.#scripts.set(sha1(source), source);
    return this.#run(source, keys, args);
  }

  #run(source: string, keys: readonly string[], args: readonly string[]): Reply {
    const isReadOnly = source.startsWith('#!lua flags=no-writes');
    return this.#options.lua.run(source, keys, args, (command) => {
      if (isReadOnly && writes.has(command[0] ?? ''))
        throw new ReplyError('ERR Write commands are not allowed from read-only scripts.');
      return this.execute(command);
    });
  }

  /** Calls `onMessage` with the channel of each message. Returns a function that unsubscribes. */
  subscribe(channel: string, onMessage: (channel: string) => void): () => void {
    const subscribers = this.#subscribers.get(channel) ?? new Set();
    this.#subscribers.set(channel, subscribers.add(onMessage));
    return () => subscribers.delete(onMessage);
  }

  /** @throws ReplyError */
  execute([name = '', key = '', ...args]: Command): Reply {
    this.#commands += 1;
    const [first = ''] = args;
    switch (name) {
      case 'TIME':
        return this.#time();
      case 'INFO':
        return this.#info;
      case 'PUBLISH':
        return this.#publish(key);
      case 'GET':
        return this.#text(key);
      case 'SET':
        return this.#set(key, first, args.slice(1));
      case 'HGET':
        return this.#hash(key).get(first)?.value ?? null;
      case 'HMGET':
        return args.map((field) => this.#hash(key).get(field)?.value ?? null);
      case 'HGETALL':
        return [...this.#hash(key)].flatMap(([field, { value }]) => [field, value]);
      case 'HLEN':
        return this.#hash(key).size;
      case 'HSCAN':
        return this.#scan(key, args);
      case 'HSET':
        return this.#setFields(key, args);
      case 'HSETNX':
        return this.#hash(key).has(first) ? 0 : this.#setFields(key, args);
      case 'HDEL':
        return this.#remove(key, args);
      case 'LRANGE':
        return this.#list(key);
      case 'LLEN':
        return this.#list(key).length;
      case 'LPOP':
        return this.#putList(key, this.#list(key).slice(1), this.#list(key)[0] ?? null);
      case 'LREM':
        return this.#putList(key, without(this.#list(key), args[1]), 1);
      case 'RPUSH':
        return this.#putList(key, [...this.#list(key), ...args], this.#list(key).length + args.length);
      default:
        throw new ReplyError(`ERR unknown command '${name}'`);
    }
  }

  /** In seconds and microseconds. Two commands never have the same time, because executing one takes a while. */
  #time(): Reply {
    const now = this.#options.clock.now() + this.#clockOffsetMs;
    return [String(Math.floor(now / 1000)), String(Math.floor(now % 1000) * 1000 + (this.#commands % 1000))];
  }

  #publish(channel: string): number {
    const subscribers = [...(this.#subscribers.get(channel) ?? [])];
    for (const onMessage of subscribers) queueMicrotask(() => onMessage(channel));
    return subscribers.length;
  }

  #set(key: string, value: string, flags: readonly string[]): Reply {
    const existing = this.#text(key);
    if (!(flags.includes('NX') && existing !== null)) this.#values.set(key, value);
    return flags.includes('GET') ? existing : 'OK';
  }

  #setFields(key: string, pairs: readonly string[]): number {
    const hash = this.#hash(key);
    const before = hash.size;
    for (let i = 0; i < pairs.length; i += 2) {
      const field = pairs[i] ?? '';
      hash.set(field, { at: hash.get(field)?.at ?? this.#commands + i / pairs.length, value: pairs[i + 1] ?? '' });
    }
    this.#values.set(key, hash);
    return hash.size - before;
  }

  #remove(key: string, fields: readonly string[]): number {
    const hash = this.#hash(key);
    const removed = fields.filter((field) => hash.delete(field)).length;
    if (hash.size === 0) this.#values.delete(key);
    return removed;
  }

  /** The cursor is the last field that was returned, so fields that stay are returned even if others are removed. */
  #scan(key: string, [cursor = '0', ...options]: readonly string[]): Reply {
    const option = (name: string) => options[options.indexOf(name) + 1] ?? '';
    const matches = options.includes('MATCH') ? globOf(option('MATCH')) : /^/;
    const count = Math.min(this.#options.scanLimit ?? Number.POSITIVE_INFINITY, Number(option('COUNT')));
    const rest = [...this.#hash(key)].filter(([, { at }]) => at > Number(cursor));
    const page = rest.slice(0, count);
    const next = rest.length > count ? String(page.at(-1)?.[1].at) : '0';
    return [next, page.filter(([field]) => matches.test(field)).flatMap(([field, { value }]) => [field, value])];
  }

  #putList<T extends Reply>(key: string, list: readonly string[], reply: T): T {
    if (list.length === 0) this.#values.delete(key);
    else this.#values.set(key, list);
    return reply;
  }

  #text(key: string): string | null {
    const value = this.#values.get(key) ?? null;
    if (value !== null && typeof value !== 'string') throw wrongType();
    return value;
  }

  #hash(key: string): Hash {
    const value = this.#values.get(key) ?? new Map();
    if (!(value instanceof Map)) throw wrongType();
    return value;
  }

  #list(key: string): readonly string[] {
    const value = this.#values.get(key) ?? [];
    if (!Array.isArray(value)) throw wrongType();
    return value;
  }
}

const wrongType = () => new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value');

const copyOf = (value: Value): Value => (value instanceof Map ? new Map(value) : value);

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

const infoOf = (run: number): string =>
  `# Server\r\nrun_id:${sha1(`run ${run}`)}\r\n# Replication\r\nmaster_replid:${sha1(`replication ${run}`)}\r\n`;

function without(list: readonly string[], element: string | undefined): readonly string[] {
  const at = list.indexOf(element ?? '');
  return list.filter((_, i) => i !== at);
}

/** A glob pattern of Redis with `*`, `?` and escapes. */
function globOf(pattern: string): RegExp {
  const parts = pattern.match(/\\.|[\s\S]/g) ?? [];
  const source = parts.map((part) => {
    if (part === '*') return '[\\s\\S]*';
    if (part === '?') return '[\\s\\S]';
    return (part.length > 1 ? part.slice(1) : part).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`);
}
