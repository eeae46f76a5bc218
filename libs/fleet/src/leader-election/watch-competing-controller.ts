import { type Connection, isApiError } from '@sluice/kubernetes';
import {
  assessCompetingController,
  findCompetingControllerEvidence,
  switchOffAdvice,
} from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { type Clock, type Logger, sleep } from '@sluice/platform';
import { fieldManager } from '@sluice/platform/process';
import type { WriteGate } from './write-gate.ts';

interface WatchCompetingControllerOptions {
  readonly cluster: string;
  readonly connection: Connection;
  readonly controllers?: ReadonlySet<Controller> | undefined;
  readonly gate: WriteGate;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval between checks, in milliseconds: a controller that starts is noticed within a minute. */
const checkMs = 20_000;
/** While the controllers change hands: at most this much later, Sluice stops or starts to write. */
const changeCheckMs = 1_000;

/**
 * Pauses writes to the cluster while kube-controller-manager may write the same objects, until `signal` aborts. A check that
 * fails changes nothing. The first check follows after an interval.
 */
export async function watchCompetingController(
  options: WatchCompetingControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { gate, clock } = options;
  let isChanging = gate.isPausedBy('competingController');
  while (!signal.aborted) {
    await sleep(clock, isChanging ? changeCheckMs : checkMs, signal);
    if (!signal.aborted) isChanging = await checkAgain(options, signal);
  }
}

/**
 * Pauses writes until a check finds that kube-controller-manager does not write the same objects, and checks for the first
 * time. `watchCompetingController` does the next checks.
 */
export async function pauseForCompetingController(
  options: WatchCompetingControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, gate, logger } = options;
  gate.set('competingController', 'not checked yet whether kube-controller-manager writes the same objects');
  const found = await check(options, signal);
  if (found === undefined || !gate.isPausedBy('competingController')) return;
  logger.info('standing by; another controller may write the same objects', {
    cluster,
    why: found.why,
    advice: found.advice,
  });
}

/**
 * Checks once, and pauses or resumes writes. Resolves to whether the controllers change hands: writes are paused, or a
 * kube-controller-manager with these controllers stands by.
 */
async function checkAgain(options: WatchCompetingControllerOptions, signal: AbortSignal): Promise<boolean> {
  const { cluster, gate, logger } = options;
  const wasPaused = gate.isPausedBy('competingController');
  const found = await check(options, signal);
  const isPaused = gate.isPausedBy('competingController');
  if (found !== undefined && isPaused !== wasPaused) {
    const { why, advice } = found;
    if (isPaused) {
      logger.error('pausing writes; another controller may write the same objects', { cluster, why, advice });
    } else logger.info('resuming writes; no competing controller', { cluster, why });
  }
  return isPaused || found?.isStandby === true;
}

interface Found {
  readonly why: string;
  readonly advice: string;
  /** A kube-controller-manager with these controllers stands by. */
  readonly isStandby: boolean;
}

/** Undefined if the check failed, which changes nothing. */
async function check(
  { cluster, connection, controllers, gate, clock, logger }: WatchCompetingControllerOptions,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const find = (skipWrites: boolean) =>
    findCompetingControllerEvidence(
      { connection, ownManager: fieldManager, now: clock.now(), skipWrites, controllers },
      signal,
    );
  try {
    let evidence = await find(true);
    const isInactive = () => assessCompetingController(evidence).status === 'inactive';
    // Before writes resume, all objects are listed: without a lease, only recent writes prove a controller.
    if (gate.isPausedBy('competingController') && isInactive()) evidence = await find(false);
    const { why } = assessCompetingController(evidence);
    gate.set('competingController', isInactive() ? undefined : why);
    const advice = `${switchOffAdvice(evidence)}, or restart with --take-over`;
    return { why, advice, isStandby: evidence.pods.some(({ enabled }) => enabled) };
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!isApiError(error)) throw error;
    logger.debug('cannot check for competing controllers', { cluster, error });
    return undefined;
  }
}

/** A controller that has not written for this long has been disabled, in milliseconds. */
const keptMs = 10 * 60_000;

/** Which other controllers have recently written the objects of each cluster. */
export class CompetingManagers {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly manager: string; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(identity: string, manager: string): void {
    this.#seen.set(identity, { manager, at: this.#clock.now() });
  }

  of(identity: string): string | undefined {
    const seen = this.#seen.get(identity);
    return seen !== undefined && this.#clock.now() - seen.at < keptMs ? seen.manager : undefined;
  }
}
