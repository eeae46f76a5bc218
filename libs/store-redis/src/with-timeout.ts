import type { Clock } from '@sluice/runtime';
import { RedisStoreError, toRedisStoreError } from './redis-error.ts';

/** Rejects with TIMEOUT if `answer` takes longer than `limitMs`. Redis may execute the command nevertheless. */
export function withTimeout<T>(clock: Clock, limitMs: number, what: string, answer: Promise<T>): Promise<T> {
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
