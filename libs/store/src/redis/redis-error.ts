import { type Clock, errorMessage } from '@sluice/platform';
import { forAllScopes, type GroupState } from '../index.ts';

type RedisErrorCode =
  /** No connection, or none in time. Whether a command was executed is unknown. */
  | 'UNREACHABLE'
  /** Connected, but no answer in time. Whether the command was executed is unknown. */
  | 'TIMEOUT'
  | 'CREDENTIALS'
  | 'FORBIDDEN'
  | 'VERSION'
  | 'EVICTION'
  | 'READ_ONLY'
  /** Redis is out of memory or disk; nothing was executed. */
  | 'FULL'
  /** Too few replicas are in sync for min-replicas-to-write; nothing was executed. */
  | 'NO_REPLICAS'
  /** Redis rejected the command for another reason, which the message quotes. */
  | 'REFUSED';

/** What Redis rejected or could not do, and how to fix it. The message never contains a secret. */
export class RedisStoreError extends Error {
  override readonly name = 'RedisStoreError';
  readonly code: RedisErrorCode;

  constructor(code: RedisErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const ADVICE: readonly (readonly [reply: RegExp, code: RedisErrorCode, advice: string])[] = [
  [/^(WRONGPASS|NOAUTH|ERR AUTH|ERR Client sent AUTH)/, 'CREDENTIALS', 'check user name and password'],
  [/^(NOPERM|ERR ACL failure)|can't run this command/i, 'FORBIDDEN', 'grant the permissions in docs/guides/redis.md'],
  [/^OOM/, 'FULL', 'Redis is at its maxmemory: raise it; nothing was changed'],
  [/^MISCONF/, 'FULL', 'Redis cannot write to its disk: free some space; nothing was changed'],
  [
    /^NOREPLICAS/,
    'NO_REPLICAS',
    'fewer replicas are in sync than min-replicas-to-write: start them; nothing was changed',
  ],
  [/^READONLY/, 'READ_ONLY', 'this is a replica: set the URL to the master, or use the topology sentinel'],
  [/^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN)/, 'UNREACHABLE', 'Redis is not ready yet'],
];

/**
 * Converts an error of ioredis. `what` names the command's purpose. The original error is not kept as the cause, because it
 * carries the command's arguments, including those of AUTH.
 */
export function toRedisStoreError(what: string, error: unknown): RedisStoreError {
  if (error instanceof RedisStoreError) return error;
  const reason = errorMessage(error);
  for (const [start, code, advice] of ADVICE) {
    if (start.test(reason)) return new RedisStoreError(code, `${what}: ${advice} (${reason})`);
  }
  if (error instanceof Error && error.name === 'ReplyError') {
    return new RedisStoreError('REFUSED', `${what}: ${reason}`);
  }
  return new RedisStoreError('UNREACHABLE', `${what}: no connection to Redis (${reason})`);
}

/** Rejects with TIMEOUT if `answer` takes longer. Redis may execute the command nevertheless. */
export function withTimeout<T>(
  { clock, commandTimeoutMs: limitMs }: { readonly clock: Clock; readonly commandTimeoutMs: number },
  what: string,
  answer: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(limitMs, () =>
      reject(new RedisStoreError('TIMEOUT', `${what}: no answer from Redis within ${limitMs} ms`)),
    );
    answer.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(toRedisStoreError(what, error));
      },
    );
  });
}

/** Names may contain any character, but the text of a state contains no space. */
export const stalledText = (stalled: readonly string[]): string =>
  stalled.length === 0 ? '' : `stalled=${stalled.map(encodeURIComponent).join(',')}`;

/** `states`: those of members, by name. */
export function stalledOf(states: readonly (readonly [string, string])[]): Pick<GroupState, 'stalled'> {
  const stalled = states.flatMap(([member, text]): (readonly [string, readonly string[]])[] => {
    // Members of earlier versions know no other reason.
    if (text === 'disconnected') return [[member, [`${forAllScopes}bus`]]];
    const [kind, names = ''] = text.split('=', 2);
    return kind === 'stalled' ? [[member, names.split(',').map(decoded)]] : [];
  });
  return stalled.length === 0 ? {} : { stalled: new Map(stalled) };
}

/** Another program may have written the text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
