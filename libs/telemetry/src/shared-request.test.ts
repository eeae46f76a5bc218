import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { SharedRequest } from './shared-request.ts';

/** A server that answers request number n with n, or refuses it. */
function server() {
  const clock = new VirtualClock();
  const sent = { count: 0, isDown: false };
  const request = new SharedRequest(clock, async () => {
    sent.count++;
    if (sent.isDown) throw new Error('connection refused');
    return sent.count;
  });
  return { clock, sent, request };
}

test('is sent at most once a second, however many calls there are', async () => {
  const { clock, sent, request } = server();
  expect(await Promise.all([request.send(), request.send()])).toEqual([1, 1]);
  await advance(clock, 999);
  expect(await request.send()).toBe(1);
  await advance(clock, 1);
  expect(await request.send()).toBe(2);
  expect(sent.count).toBe(2);
});

test('is not repeated sooner after a failure, and its answer is the failure', async () => {
  const { clock, sent, request } = server();
  sent.isDown = true;
  await expect(request.send()).rejects.toThrow('connection refused');
  sent.isDown = false;
  await expect(request.send()).rejects.toThrow('connection refused');
  await advance(clock, 1_000);
  expect(await request.send()).toBe(2);
});

test('without an answer is pending for as long as it takes, and every call says since when', async () => {
  const clock = new VirtualClock();
  const answer = Promise.withResolvers<string>();
  let count = 0;
  const request = new SharedRequest(clock, () => {
    count++;
    return answer.promise;
  });
  const failures: string[] = [];
  const call = () => request.send().catch((error: Error) => failures.push(error.message));
  void call();
  await advance(clock, 5_000);
  void call();
  await advance(clock, 1_000);
  expect(failures).toEqual(['no response for 1.0 s', 'no response for 6.0 s']);
  answer.resolve('late');
  expect(await request.send()).toBe('late');
  expect(count).toBe(1);
});
