import type { Argument, Client } from '../script.ts';
import type { Reply } from './lua.ts';
import type { MemoryRedis } from './memory-redis.ts';

/** Runs a request at the server, which may observe it or let it fail. Default: runs it. */
export type Intercept = (keys: readonly string[], run: () => Reply) => Reply;

/** The part of a client of ioredis that the adapters use, connected to a server in this process. */
export function memoryClient(server: MemoryRedis, intercept: Intercept = (_, run) => run()): Client {
  const run = async (keys: readonly string[], send: () => Reply): Promise<Reply> => intercept(keys, send);
  const command = (...parts: readonly Argument[]) => {
    const bytes = parts.map(toBytes);
    return run(bytes.slice(1, 2), () => server.execute(bytes));
  };
  const script =
    (name: 'eval' | 'evalsha') =>
    async (code: string, count: number, ...rest: readonly Argument[]) => {
      const [keys, args] = [rest.slice(0, count).map(toBytes), rest.slice(count).map(toBytes)];
      return toText(await run(keys, () => server[name](code, keys, args)));
    };
  const client = {
    eval: script('eval'),
    evalsha: script('evalsha'),
    get: async (key: string) => toText(await command('GET', key)),
    set: async (...args: readonly string[]) => toText(await command('SET', ...args)),
    hget: async (key: string, field: string) => toText(await command('HGET', key, field)),
    hset: (...args: readonly string[]) => command('HSET', ...args),
    hdel: (...args: readonly string[]) => command('HDEL', ...args),
    hgetall: async (key: string) => recordOf(toText(await command('HGETALL', key))),
    hscan: async (...args: readonly Argument[]) => toText(await command('HSCAN', ...args)),
    lrange: async (...args: readonly Argument[]) => toText(await command('LRANGE', ...args)),
    hmgetBuffer: async (...args: readonly string[]) => toBuffers(await command('HMGET', ...args)),
    multi() {
      const queued: (readonly string[])[] = [];
      const transaction = {
        time() {
          queued.push(['TIME']);
          return transaction;
        },
        hgetall(key: string) {
          queued.push(['HGETALL', key]);
          return transaction;
        },
        async exec() {
          const commands = queued.map((parts) => parts.map(toBytes));
          const keys = commands.flatMap(([, key = []]) => key);
          const replies = await run(keys, () => commands.map((one) => server.execute(one)));
          return toText(replies as Reply[]).map((reply: Reply) => [null, reply] as const);
        },
      };
      return transaction;
    },
    on(event: string, listener: (channel: string) => void) {
      if (event === 'message') listeners.add(listener);
      return client;
    },
    subscribe: async (channel: string) => {
      server.subscribe(channel, (from) => {
        for (const listener of listeners) listener(from);
      });
    },
  };
  const listeners = new Set<(channel: string) => void>();
  return client as unknown as Client;
}

function toBytes(argument: Argument): string {
  if (typeof argument === 'number') return String(argument);
  return (typeof argument === 'string' ? Buffer.from(argument) : argument).toString('latin1');
}

function toText<T extends Reply>(reply: T): T;
function toText(reply: Reply): Reply {
  if (typeof reply === 'string') return Buffer.from(reply, 'latin1').toString();
  return Array.isArray(reply) ? reply.map((element: Reply) => toText(element)) : reply;
}

function toBuffers(reply: Reply): readonly (Buffer | null)[] {
  if (!Array.isArray(reply)) throw new TypeError('not a list');
  return reply.map((element) => (element === null ? null : Buffer.from(String(element), 'latin1')));
}

function recordOf(flat: Reply): Record<string, string> {
  const list = Array.isArray(flat) ? flat.map(String) : [];
  return Object.fromEntries(
    Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i] ?? '', list[2 * i + 1] ?? '']),
  );
}
