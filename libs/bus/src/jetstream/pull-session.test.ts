import type { Msg } from '@nats-io/nats-core';
import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import type { NatsLink } from './link.ts';
import { PullSession, SilenceWatch } from './pull-session.ts';

test.each([
  ['its bytes', [65_536, 65_536]],
  ['its records', [100, 100, 100]],
])('requests more records when %s are used up, which no status says', (_, sizes) => {
  const { requests, deliver } = start(3);
  for (const [i, bytes] of sizes.entries()) {
    expect(requests).toHaveLength(1);
    deliver(i + 1, bytes);
  }
  expect(requests).toMatchObject([{ batch: 3, max_bytes: 131_072 }, { batch: 3 }]);
});

/** A session of a reader that takes each record at once. */
function start(room: number) {
  const clock = new VirtualClock(0);
  const requests: unknown[] = [];
  let receive: (error: null, message: Msg) => void = () => {};
  const nc = {
    subscribe: (_: string, options: { callback: typeof receive }) => {
      receive = options.callback;
      return { unsubscribe: () => {} };
    },
    publish: (_: string, request: string) => requests.push(JSON.parse(request)),
    isClosed: () => false,
  };
  const link = { nc, onDown: () => () => {}, maxPayload: 1_048_576 } as unknown as NatsLink;
  const target = { stream: 's', consumer: 'c', inboxPrefix: '_INBOX' };
  const events = { room: () => room, delivered: () => {}, skippedTo: () => {} };
  const session = new PullSession(link, clock, new SilenceWatch(clock, 10_000), target, events);
  session.start();
  const deliver = (offset: number, bytes: number) =>
    receive(null, { reply: `$JS.ACK.s.c.1.${offset}.${offset}.1.0`, size: () => bytes } as unknown as Msg);
  return { requests, deliver };
}

test('all checks share one timer, which ends with the last of them', async () => {
  const clock = new VirtualClock(0);
  const watch = new SilenceWatch(clock, 3_000);
  const checked: string[] = [];
  const removeA = watch.add(() => checked.push('a'));
  await advance(clock, 1_000);
  const removeB = watch.add(() => checked.push('b'));
  await advance(clock, 2_000);
  expect(checked).toEqual(['a', 'b']);
  removeA();
  await advance(clock, 3_000);
  expect(checked).toEqual(['a', 'b', 'b']);
  removeB();
  await advance(clock, 30_000);
  expect(checked).toEqual(['a', 'b', 'b']);
  watch.add(() => checked.push('c'));
  await advance(clock, 3_000);
  expect(checked.at(-1)).toBe('c');
});
