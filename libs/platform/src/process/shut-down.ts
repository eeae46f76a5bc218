import { type Clock, type Logger, sleep } from '../index.ts';
import { exitStatus } from './exit.ts';

/** Time in-flight writes get to finish at shutdown, in milliseconds. */
export const graceMs = 5_000;
/** Time the export of the last spans may take, in milliseconds. */
export const tracesGraceMs = 2_000;
/** Time a component without work of its own may take to stop, in milliseconds. */
export const marginMs = 2_000;

/** Whether a component gave up work on shutdown, so that open timers are no sign of a leak. */
let hasAbandonedWork = false;

/** One component to stop. */
export interface ShutdownStep {
  /** Name of the component, for log lines. */
  readonly component: string;
  /** Timeout in milliseconds. */
  readonly graceMs: number;
  /** May resolve to 'abandoned': something was given up whose timers keep the event loop alive for a while. */
  readonly stop: () => unknown;
}

/**
 * Stops the components one after the other, each within its timeout, so that the process exits even if one hangs. Logs and
 * returns the components that failed or timed out.
 */
export async function stopInOrder(
  steps: readonly ShutdownStep[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { component, graceMs, stop } of steps) {
    const outcome = Promise.try(stop).then(
      (result: unknown) => {
        hasAbandonedWork ||= result === 'abandoned';
        return 'stopped' as const;
      },
      (error: unknown) => ({ error }),
    );
    const waiting = new AbortController();
    const timeout = sleep(clock, graceMs, waiting.signal).then(() => 'timeout' as const);
    const found = await Promise.race([outcome, timeout]);
    waiting.abort();
    if (found === 'stopped') continue;
    failed.push(component);
    if (found === 'timeout') logger.error('shutdown timed out', { component, graceMs });
    else logger.error('shutdown failed', { component, ...found });
  }
  return failed;
}

/** Like `stopInOrder`, and sets exit status 1 if a component failed to stop. */
export async function shutDown(...args: Parameters<typeof stopInOrder>): Promise<void> {
  const failed = await stopInOrder(...args);
  if (failed.length > 0) process.exitCode ||= exitStatus.failure;
}

/** Closes the connections to bus and store. */
export function closing({ close }: { close(): Promise<unknown> }): ShutdownStep {
  return { component: 'bus and store', graceMs, stop: close };
}

/** Time the process may take to exit on its own once its work is done, in milliseconds. */
const lingerMs = 2_000;

/**
 * Exits soon even if something keeps the event loop alive, such as a leaked connection. Logs what it was, unless the process
 * is already failing: nothing follows a clear error.
 */
export function exitSoon(logger: Logger): void {
  const timer = setTimeout(
    () => {
      if (!process.exitCode && !hasAbandonedWork) {
        const resources = [...new Set(process.getActiveResourcesInfo())].join(', ');
        logger.error('exiting with open resources', { resources });
      }
      process.exit(process.exitCode || (hasAbandonedWork ? exitStatus.success : exitStatus.failure));
    },
    hasAbandonedWork ? 0 : lingerMs,
  );
  timer.unref();
}
