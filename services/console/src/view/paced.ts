import { type Clock, sleep } from '@sluice/runtime';

/** Others wait so long at most, in milliseconds. */
const atOnceMs = 8;

/** The items; while something is done with many of them, whatever else runs in this process goes on meanwhile. */
export async function* paced<T>(items: Iterable<T>, clock: Clock): AsyncGenerator<T> {
  let begun = clock.monotonic();
  for (const item of items) {
    yield item;
    if (clock.monotonic() - begun < atOnceMs) continue;
    await sleep(clock, 0);
    begun = clock.monotonic();
  }
}
