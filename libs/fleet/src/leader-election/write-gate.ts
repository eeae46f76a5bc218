import { ApiError, type ClusterRequest, isWrite, type RequestCheck } from '@sluice/kubernetes';

/** Why writes to a cluster are paused. */
type PauseCause = 'competingController' | 'claimedByOtherFleet' | 'unclaimed' | 'forbidden';

const retryAfterMs = 5_000;

/** Why a request was not sent. The plan is not at fault, so the writer tries again. */
export const notSent = (
  reason: 'WritesPaused' | 'NotLeader' | 'ClusterReplaced',
  message: string,
  more: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
): ApiError => new ApiError(message, { kind: 'retry', status: 503, reason, ...more });

/** Rejects writes to one cluster while anything speaks against them. Reads and watches continue. */
export class WriteGate implements RequestCheck {
  readonly #reasons = new Map<PauseCause, string>();
  readonly #opened = new Map<PauseCause, PromiseWithResolvers<void>>();

  /** Why writes are paused; undefined if they are not. */
  get pausedBecause(): string | undefined {
    return this.#reasons.size === 0 ? undefined : [...this.#reasons.values()].join('; ');
  }

  isPausedBy(cause: PauseCause): boolean {
    return this.#reasons.has(cause);
  }

  /** Resolves once nothing pauses writes for this cause. */
  async opened(cause: PauseCause): Promise<void> {
    if (!this.#reasons.has(cause)) return;
    const opened = this.#opened.get(cause) ?? Promise.withResolvers<void>();
    this.#opened.set(cause, opened);
    await opened.promise;
  }

  /** Pauses writes, or resumes them if `reason` is undefined. Returns whether this changed anything but the wording. */
  set(cause: PauseCause, reason: string | undefined): boolean {
    const wasPaused = this.#reasons.has(cause);
    if (reason === undefined) {
      this.#reasons.delete(cause);
      this.#opened.get(cause)?.resolve();
      this.#opened.delete(cause);
    } else this.#reasons.set(cause, reason);
    return wasPaused !== (reason !== undefined);
  }

  assert(request: ClusterRequest): void {
    const reason = this.pausedBecause;
    if (reason === undefined || !isWrite(request)) return;
    throw notSent('WritesPaused', `writes to this cluster are paused: ${reason}`, { retryAfterMs });
  }
}
