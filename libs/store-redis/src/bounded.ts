import type { Clock } from '@sluice/runtime';
import { explain, RedisStoreError } from './redis-error.ts';

/** Rejects when the answer does not come in time; the command may be carried out nevertheless. */
export function bounded<T>(clock: Clock, limitMs: number, what: string, answer: Promise<T>): Promise<T> {
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
        reject(explain(what, error));
      },
    );
  });
}
