import type { Connection } from '@sluice/kubernetes';
import { isApiError } from '@sluice/kubernetes';
import { assessCompetingController, findCompetingControllerEvidence, switchOffAdvice } from '@sluice/preflight';
import { fieldManager } from '@sluice/process';
import { type Clock, type Logger, sleep } from '@sluice/runtime';
import type { WriteGate } from './write-gate.ts';

export interface WatchCompetingControllerOptions {
  readonly cluster: string;
  readonly connection: Connection;
  readonly gate: WriteGate;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval between checks, in milliseconds: a controller that starts is noticed within a minute. */
const checkMs = 20_000;

/**
 * Pauses writes to the cluster while kube-controller-manager may write the same objects, until `signal` aborts. A check that
 * fails changes nothing.
 */
export async function watchCompetingController(
  { cluster, connection, gate, clock, logger }: WatchCompetingControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, checkMs, signal);
    if (signal.aborted) return;
    try {
      const search = { connection, ownManager: fieldManager, now: clock.now(), skipWrites: true };
      const evidence = await findCompetingControllerEvidence(search, signal);
      const { status, why } = assessCompetingController(evidence);
      const isPaused = status !== 'inactive';
      if (!gate.set('competingController', isPaused ? why : undefined)) continue;
      if (isPaused) {
        const advice = `${switchOffAdvice(evidence)}, or restart with --take-over`;
        logger.error('pausing writes; another controller may write the same objects', { cluster, why, advice });
      } else logger.info('resuming writes; no competing controller', { cluster, why });
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiError(error)) throw error;
      logger.debug('cannot check for competing controllers', { cluster, error });
    }
  }
}
