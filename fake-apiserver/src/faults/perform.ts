import { type Clock, sleep } from '@sluice/platform';
import { StatusError } from '../server/status.ts';
import { Watch } from '../server/watch.ts';
import type { FaultPlan, FaultyRequest } from './fault-plan.ts';

/** The connection broke; the client cannot know whether the request was executed. */
export class ConnectionReset extends Error {
  override readonly name = 'ConnectionReset';
  readonly code = 'ECONNRESET';

  constructor() {
    super('read ECONNRESET');
  }
}

/** Executes a request of a client under a fault plan. Throws StatusError or ConnectionReset. */
export async function perform<T>(
  faults: FaultPlan,
  clock: Clock,
  signal: AbortSignal,
  request: FaultyRequest,
  run: (behind: number, empty: boolean) => T,
): Promise<T> {
  const { latencyMs, error, lateMs, cut, behind = 0, empty = false } = faults.take(request);
  if (latencyMs > 0) await sleep(clock, latencyMs, signal);
  if (signal.aborted) throw new ConnectionReset();
  if (lateMs !== undefined) {
    clock.schedule(lateMs, () => executeUnanswered(() => run(behind, empty)));
    throw new ConnectionReset();
  }
  if (error === 'reset') throw new ConnectionReset();
  if (error !== undefined && error !== 'resetAfter') throw error;
  const result = run(behind, empty);
  if (error === 'resetAfter') throw new ConnectionReset();
  if (cut !== undefined && result instanceof Watch) result.cutAfter(cut.afterEvents, cut.how);
  return result;
}

/** Nobody gets the server's answer. */
function executeUnanswered(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}
