import type { Clock } from '../index.ts';
import { printableLine } from './printable.ts';
import { columnsOf, truncate } from './wrap.ts';

/** A wait shorter than this shows nothing. */
const quietMs = 2_000;

/** A terminal; a pipe or file gets nothing. */
interface WaitOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Waits for the work of a command. On a terminal, shows what it waits for and how long, once that takes more than two
 * seconds, and erases it at the end.
 */
export async function showWait<T>(
  what: string,
  work: Promise<T>,
  { clock, output }: { readonly clock: Clock; readonly output: WaitOutput },
): Promise<T> {
  if (!output.isTTY) return work;
  const startedAt = clock.monotonic();
  let shown = false;
  const show = () => {
    shown = true;
    const time = `, ${Math.round((clock.monotonic() - startedAt) / 1_000)} s `;
    // A line that wraps is not erased as a whole.
    output.write(`\r${truncate(printableLine(what), columnsOf(output) - time.length)}${time}`);
    cancel = clock.schedule(1_000, show);
  };
  let cancel = clock.schedule(quietMs, show);
  try {
    return await work;
  } finally {
    cancel();
    if (shown) output.write('\r\x1b[K');
  }
}
