import { type Clock, sleep } from '@sluice/runtime';

/** Maximum time between two yields to the event loop, in milliseconds. */
const sliceMs = 8;

/** Iterates over the items and yields to the event loop regularly, so that a long loop does not delay the services of this process. */
export async function* yielding<T>(items: Iterable<T>, clock: Clock): AsyncGenerator<T> {
  let resumedAt = clock.monotonic();
  for (const item of items) {
    yield item;
    if (clock.monotonic() - resumedAt < sliceMs) continue;
    await sleep(clock, 0);
    resumedAt = clock.monotonic();
  }
}
