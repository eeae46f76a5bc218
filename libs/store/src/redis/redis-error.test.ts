import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { toRedisStoreError, withTimeout } from './redis-error.ts';

test.each([
  ['WRONGPASS invalid username-password pair or user is disabled.', 'CREDENTIALS'],
  ['NOAUTH Authentication required.', 'CREDENTIALS'],
  ["NOPERM User sluice has no permissions to run the 'hset' command", 'FORBIDDEN'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'FULL'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'FULL'],
  ['NOREPLICAS Not enough good replicas to write.', 'NO_REPLICAS'],
  ["READONLY You can't write against a read only replica.", 'READ_ONLY'],
  ['CLUSTERDOWN The cluster is down', 'UNREACHABLE'],
  ['ERR wrong number of arguments', 'REFUSED'],
])('%s has the code %s', (reply, code) => {
  const error = toRedisStoreError('commit', Object.assign(new Error(reply), { name: 'ReplyError' }));
  expect(error).toMatchObject({ code, message: expect.stringContaining('commit') });
  expect(error.message).toContain(reply);
  expect(error.cause).toBeUndefined();
});

test('an error that is not a reply of Redis means a lost connection', () => {
  expect(toRedisStoreError('commit', new Error('Connection is closed.'))).toMatchObject({ code: 'UNREACHABLE' });
});

test('an answer that takes too long rejects with TIMEOUT', async () => {
  const clock = new VirtualClock(0);
  const late = expect(withTimeout({ clock, commandTimeoutMs: 500 }, 'heartbeat', new Promise(() => {}))).rejects;
  clock.step(500);
  await late.toMatchObject({ code: 'TIMEOUT', message: 'heartbeat: no answer from Redis within 500 ms' });
  await expect(withTimeout({ clock, commandTimeoutMs: 500 }, 'heartbeat', Promise.resolve(1))).resolves.toBe(1);
});
