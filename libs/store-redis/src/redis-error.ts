import { errorMessage } from '@sluice/runtime';

export type RedisErrorCode =
  /** The options make no sense. */
  | 'OPTIONS'
  /** No connection, or none in time. Whether a command was carried out is unknown. */
  | 'UNREACHABLE'
  /** Connected, but no answer in time. Whether the command was carried out is unknown. */
  | 'TIMEOUT'
  | 'CREDENTIALS'
  | 'FORBIDDEN'
  | 'VERSION'
  | 'EVICTION'
  | 'READ_ONLY'
  /** No memory or no disk: nothing was carried out. */
  | 'FULL'
  /** Redis refused it for another reason, which stands in the message. */
  | 'REFUSED';

/** What Redis refused or could not do, and what to do about it. Never a secret. */
export class RedisStoreError extends Error {
  override readonly name = 'RedisStoreError';
  readonly code: RedisErrorCode;

  constructor(code: RedisErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const REACTIONS: readonly (readonly [start: RegExp, code: RedisErrorCode, advice: string])[] = [
  [/^(WRONGPASS|NOAUTH|ERR AUTH|ERR Client sent AUTH)/, 'CREDENTIALS', 'check user name and password'],
  [/^(NOPERM|ERR ACL failure)|can't run this command/i, 'FORBIDDEN', 'grant the permissions in docs/guides/redis.md'],
  [/^OOM/, 'FULL', 'Redis is at its maxmemory: raise it; nothing was changed'],
  [/^MISCONF/, 'FULL', 'Redis cannot write to its disk: free some space; nothing was changed'],
  [/^READONLY/, 'READ_ONLY', 'this is a replica: name the master, or the sentinels'],
  [/^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN)/, 'UNREACHABLE', 'Redis is not ready yet'],
];

/** In words of ours, with the command's purpose. Not with the error as its cause: that carries the command, AUTH too. */
export function explain(what: string, error: unknown): RedisStoreError {
  if (error instanceof RedisStoreError) return error;
  const reason = errorMessage(error);
  for (const [start, code, advice] of REACTIONS) {
    if (start.test(reason)) return new RedisStoreError(code, `${what}: ${advice} (${reason})`);
  }
  if (error instanceof Error && error.name === 'ReplyError') {
    return new RedisStoreError('REFUSED', `${what}: ${reason}`);
  }
  return new RedisStoreError('UNREACHABLE', `${what}: no connection to Redis (${reason})`);
}
