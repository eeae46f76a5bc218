import type { Clock } from '@sluice/platform';
import type { WatchEvent } from '../cluster.ts';
import type { WatchStream } from '../middleware.ts';
import { isOlderVersion, resourceVersionOf } from '../resource-version.ts';
import { readerError } from '../status.ts';

/**
 * How long events may be late that another watch has received before, in milliseconds. They may never come: that watch may have
 * reached its version by a bookmark.
 */
const maxLagMs = 250;

export interface CatchUpOptions {
  /** The version that the list must reach; empty if it may have any. */
  readonly minimum: string;
  readonly clock: Clock;
}

/**
 * Ends the initial events of a WatchList where it reaches a version, if the API server ended them before. Events in between
 * become initial events, so the reader gets a list that is not older than what others have seen since the watch was opened.
 *
 * @throws ApiError `gone` if the watch does not reach the version soon
 */
export async function* catchUp(
  batches: Pick<AsyncIterator<readonly WatchEvent[]>, 'next'>,
  { minimum, clock }: CatchUpOptions,
): WatchStream {
  const tooLate = Promise.withResolvers<never>();
  // Also while the reader handles a batch and nobody waits for the next one.
  tooLate.promise.catch(() => {});
  let cancel: (() => void) | undefined;
  let isInitial = true;
  try {
    for (;;) {
      const next = await (cancel === undefined ? batches.next() : Promise.race([batches.next(), tooLate.promise]));
      if (next.done === true) return;
      const batch = next.value;
      const isEnd = (event: WatchEvent) => event.type === 'BOOKMARK' && event.initialEventsEnd === true;
      const from = cancel === undefined ? batch.findIndex(isEnd) : 0;
      if (!isInitial || from < 0) {
        yield batch;
        continue;
      }
      const last = batch.findIndex((event, index) => index >= from && !isOlderVersion(versionOf(event), minimum));
      const initial = (last < 0 ? batch : batch.slice(0, last + 1)).filter(({ type }) => type !== 'BOOKMARK');
      const reached = batch[last];
      if (reached === undefined) {
        const behind = () => tooLate.reject(readerError('gone', 'Behind', `the watch has not reached ${minimum}`));
        cancel ??= clock.schedule(maxLagMs, behind);
        yield initial;
        continue;
      }
      cancel?.();
      [cancel, isInitial] = [undefined, false];
      const end: WatchEvent = { type: 'BOOKMARK', resourceVersion: versionOf(reached), initialEventsEnd: true };
      yield [...initial, end, ...batch.slice(last + 1)];
    }
  } finally {
    cancel?.();
  }
}

const versionOf = (event: WatchEvent): string =>
  event.type === 'BOOKMARK' ? event.resourceVersion : resourceVersionOf(event.object);
