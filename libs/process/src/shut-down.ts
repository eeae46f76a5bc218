import { type Clock, type Logger, sleep } from '@sluice/runtime';

/** How long writes under way are waited for at the end, in milliseconds. */
export const graceMs = 5_000;
/** How long the last spans may take to be delivered, in milliseconds. */
export const tracesGraceMs = 2_000;
/** How long something may take to end after that, where it has nothing to wait for, in milliseconds. */
export const marginMs = 2_000;

/** One thing that has to come to its end. */
export interface Ending {
  /** For people. */
  readonly what: string;
  /** How long it may take, in milliseconds. */
  readonly graceMs: number;
  readonly end: () => unknown;
}

/**
 * Ends one after the other, and waits for none longer than it may take: a process that was asked to end does, whatever hangs.
 * Returns what did not end in time, or failed to; each is logged.
 */
export async function endInOrder(
  endings: readonly Ending[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<readonly string[]> {
  const unended: string[] = [];
  for (const { what, graceMs, end } of endings) {
    const outcome = Promise.try(end).then(
      () => 'ended' as const,
      (error: unknown) => ({ error }),
    );
    const waiting = new AbortController();
    const late = sleep(clock, graceMs, waiting.signal).then(() => 'late' as const);
    const found = await Promise.race([outcome, late]);
    waiting.abort();
    if (found === 'ended') continue;
    unended.push(what);
    if (found === 'late') logger.error('did not end in time; going on without', { what, graceMs });
    else logger.error('could not be ended; going on without', { what, ...found });
  }
  return unended;
}

/** As `endInOrder`, at the end of the process: what did not end shows in its exit status. */
export async function shutDown(...args: Parameters<typeof endInOrder>): Promise<void> {
  const unended = await endInOrder(...args);
  if (unended.length > 0) process.exitCode ||= 1;
}

/** The end of the connections to bus and store. */
export function closing({ close }: { close(): Promise<unknown> }): Ending {
  return { what: 'the connections to bus and store', graceMs, end: close };
}

/** How long a process may take to end by itself once its work is done, in milliseconds. */
const lingerMs = 2_000;

/**
 * The work is done. Should something that nobody waits for keep the process alive all the same, such as a connection that
 * was left behind, it says so and ends.
 */
export function leaveSoon(logger: Logger): void {
  const timer = setTimeout(() => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
    logger.error('all is done, and something is still open; ending', { open });
    process.exit(process.exitCode || 1);
  }, lingerMs);
  timer.unref();
}
