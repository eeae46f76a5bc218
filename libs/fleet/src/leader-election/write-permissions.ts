import { type ApiClient, type ClusterRequest, isApiError, type RequestCheck } from '@sluice/kubernetes';
import { type Access, describeAccess, neededAccess, reviewAccess } from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { type Clock, type Logger, orAborted, sleep } from '@sluice/platform';
import type { WriteGate } from './write-gate.ts';

interface WritePermissionsOptions {
  readonly cluster: string;
  readonly connection: ApiClient;
  readonly controllers?: ReadonlySet<Controller> | undefined;
  readonly gate: WriteGate;
  /** Called when writes are permitted again: what was rejected before should be tried at once. */
  readonly onPermitted?: (() => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval between reviews while a permission is missing, in milliseconds. */
const reviewMs = 3_000;

/**
 * Pauses writes while the API server permits none of them, so that they are not rejected one by one, and each parked for a
 * minute. The first rejection starts a review of the permissions. One that concerns a single namespace or object pauses
 * nothing.
 */
export class WritePermissions implements RequestCheck {
  readonly #options: WritePermissionsOptions;
  readonly #needed: readonly Access[];
  #rejected = Promise.withResolvers<void>();

  constructor(options: WritePermissionsOptions) {
    this.#options = options;
    this.#needed = neededAccess(['write'], options.controllers);
  }

  assert(request: ClusterRequest): void {
    this.#options.gate.assert(request);
  }

  failed(error: unknown): void {
    if (isApiError(error) && error.kind === 'terminal' && error.status === 403) this.#rejected.resolve();
  }

  /** Reviews after rejections, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while ((await orAborted(this.#rejected.promise, signal)) !== 'aborted') {
      await this.#waitUntilPermitted(signal);
      this.#rejected = Promise.withResolvers();
      // A webhook may reject every request: one review answers for all that follow within this time.
      await sleep(this.#options.clock, reviewMs, signal);
    }
  }

  async #waitUntilPermitted(signal: AbortSignal): Promise<void> {
    const { cluster, gate, onPermitted, clock, logger } = this.#options;
    for (;;) {
      const missing = await this.#missing(signal);
      if (signal.aborted) return;
      const wasPaused = gate.isPausedBy('forbidden');
      if (missing === undefined && !wasPaused) return;
      if (missing?.length === 0) {
        gate.set('forbidden', undefined);
        if (!wasPaused) return;
        logger.info('resuming writes; the API server permits them again', { cluster });
        return onPermitted?.();
      }
      if (missing !== undefined) {
        const reason = `the API server does not permit them: ${missing.join(', ')}`;
        gate.set('forbidden', reason);
        if (!wasPaused) logger.error('pausing writes; the API server does not permit them', { cluster, missing });
      }
      await sleep(clock, reviewMs, signal);
    }
  }

  /** What is not permitted, for people; undefined if the API server does not answer. */
  async #missing(signal: AbortSignal): Promise<readonly string[] | undefined> {
    try {
      const allowed = await reviewAccess(this.#options.connection, this.#needed, signal);
      return this.#needed.filter((_, i) => allowed[i] !== true).map(describeAccess);
    } catch (error) {
      if (!isApiError(error) && !signal.aborted) throw error;
      return undefined;
    }
  }
}
