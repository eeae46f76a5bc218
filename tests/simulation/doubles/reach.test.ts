import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { type Cut, Reach } from './reach.ts';

const fail = (why: string) => new Error(why);

test.each<readonly [Cut, number, boolean]>([
  ['refused', 100, false],
  ['silent', 10_000, false],
  ['unanswered', 10_000, true],
])('a request fails while the server is out of reach: %s', async (how, afterMs, isExecuted) => {
  const clock = new VirtualClock(0);
  const reach = new Reach(clock);
  reach.cut(how);
  let executed = false;
  const send = async () => {
    executed = true;
  };
  let failedAt = 0;
  reach.send(send, fail, { timeoutMs: 10_000 }).catch(() => {
    failedAt = clock.now();
  });
  await advance(clock, 20_000);
  expect([failedAt, executed]).toEqual([afterMs, isExecuted]);
});

test('an answer that comes once the server is out of reach is lost', async () => {
  const clock = new VirtualClock(0);
  const reach = new Reach(clock);
  expect(await reach.send(async () => 'in time', fail, { timeoutMs: 1_000 })).toBe('in time');
  const answer = Promise.withResolvers<string>();
  const sent = expect(reach.send(() => answer.promise, fail, { timeoutMs: 1_000 })).rejects.toThrow('silent');
  reach.cut('silent');
  answer.resolve('late');
  await advance(clock, 1_000);
  await sent;
  expect(reach.isCut).toBe(true);
});
