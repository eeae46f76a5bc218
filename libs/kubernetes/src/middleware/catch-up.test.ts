import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import type { WatchEvent } from '../cluster.ts';
import { InitialEvents } from '../initial-events.ts';
import { catchUp } from './catch-up.ts';

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, resourceVersion: string): WatchEvent => ({
  ...{ type, object: { metadata: { namespace: 'ns', name, resourceVersion } } },
});
const bookmark = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion });
const end = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: true });

/** Sends these batches, then waits. */
async function* watch(...batches: readonly (readonly WatchEvent[])[]) {
  yield* batches;
  await new Promise(() => {});
}

/** The list of a reader, as names, and the events after it. */
async function read(minimum: string, batches: readonly (readonly WatchEvent[])[]) {
  const initial = new InitialEvents((object) => ({ value: object }));
  for await (const batch of catchUp(watch(...batches), { minimum, clock: new VirtualClock(0) })) {
    const list = initial.add(batch);
    // A bookmark before the end shows a reader that the server does not know initial events.
    if (list === undefined) expect(batch.map(({ type }) => type)).not.toContain('BOOKMARK');
    else return { ...list, names: initial.objects().map(({ metadata }) => (metadata as { name: string }).name) };
  }
  throw new Error('no list');
}

const early = [[event('ADDED', 'a', '3')], [event('ADDED', 'b', '5'), end('7')]];

test.each(['', '6', '7'])('a list that is new enough (%s) stays as it is', async (minimum) => {
  const list = await read(minimum, [...early, [event('DELETED', 'a', '8')]]);
  expect(list).toEqual({ names: ['a', 'b'], resourceVersion: '7', rest: [] });
});

test('an older list ends where it reaches what others have seen: without what was deleted meanwhile', async () => {
  const later = [[event('DELETED', 'a', '8')], [event('ADDED', 'c', '9'), event('DELETED', 'b', '10')]];
  expect(await read('9', [...early, ...later])).toEqual({
    ...{ names: ['b', 'c'], resourceVersion: '9' },
    rest: [event('DELETED', 'b', '10')],
  });
});

test('events after the end of the same batch count', async () => {
  const list = await read('9', [[event('ADDED', 'a', '3'), end('7'), event('DELETED', 'a', '8'), bookmark('9')]]);
  expect(list).toEqual({ names: [], resourceVersion: '9', rest: [] });
});

test('bookmarks on the way are left out', async () => {
  const list = await read('9', [...early, [bookmark('8')], [bookmark('11')]]);
  expect(list).toEqual({ names: ['a', 'b'], resourceVersion: '11', rest: [] });
});

test('after the list everything is passed on', async () => {
  const stream = catchUp(watch(...early, [end('9')], [bookmark('10')]), { minimum: '7', clock: new VirtualClock(0) });
  const received: WatchEvent[] = [];
  for await (const batch of stream) if (received.push(...batch) === 5) break;
  expect(received.slice(3)).toEqual([end('9'), bookmark('10')]);
});

test('a watch that does not get there soon is given up', async () => {
  const clock = new VirtualClock(0);
  const stream = catchUp(watch(...early, [event('ADDED', 'c', '8')]), { minimum: '9', clock });
  const reading = (async () => {
    for await (const _ of stream);
  })();
  const failed = expect(reading).rejects.toMatchObject({ kind: 'gone', reason: 'Behind' });
  await advance(clock, 1_000);
  await failed;
});

test('a watch that catches up in time is not given up later', async () => {
  const clock = new VirtualClock(0);
  const more = Promise.withResolvers<void>();
  const source = async function* () {
    yield* early;
    yield [event('ADDED', 'c', '9')];
    await more.promise;
    yield [event('ADDED', 'd', '10')];
  };
  const received: string[] = [];
  for await (const batch of catchUp(source(), { minimum: '9', clock })) {
    received.push(batch.map(({ type }) => type).join(' '));
    if (received.length < 3) continue;
    await advance(clock, 1_000);
    more.resolve();
  }
  expect(received).toEqual(['ADDED', 'ADDED', 'ADDED BOOKMARK', 'ADDED']);
});

test('a watch that its reader leaves while it is behind leaves no timer', async () => {
  const clock = new VirtualClock(0);
  for await (const _ of catchUp(watch(...early), { minimum: '9', clock })) if (clock.nextAt() !== undefined) break;
  expect(clock.nextAt()).toBeUndefined();
});

test('a watch that ends early ends', async () => {
  const source = async function* () {
    yield [event('ADDED', 'a', '3')];
  };
  const received: unknown[] = [];
  for await (const batch of catchUp(source(), { minimum: '9', clock: new VirtualClock(0) })) received.push(batch);
  expect(received).toEqual([[event('ADDED', 'a', '3')]]);
});
