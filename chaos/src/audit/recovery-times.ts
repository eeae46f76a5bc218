/** A change of a Pod's readiness. Times are in milliseconds on one clock. */
interface Probe {
  readonly ready: boolean;
  readonly at: number;
  seenAt: number | undefined;
}

export interface ObservedChanges {
  readonly count: number;
  /** Those that no EndpointSlice has shown. */
  readonly unseen: number;
  /** Time until the slowest of the others was visible. */
  readonly slowestMs: number;
}

/** Changes within this time after an action count for it. */
const probedMs = 500;

/**
 * Time that the fleet needs to recover from an action: until every readiness change that was pending at the action, or
 * made in the half second after it, is visible in EndpointSlices. Actions that overlap count towards each other. A
 * probed Pod changes only after its last change was observed, so no change hides another.
 */
export class RecoveryTimes {
  readonly #probes: Probe[] = [];
  /** Pending changes keyed by Pod. */
  readonly #open = new Map<string, Probe>();

  /** Call when the API server has accepted a change. */
  flipped(pod: string, ready: boolean, at: number): void {
    const probe = { ready, at, seenAt: undefined };
    this.#probes.push(probe);
    this.#open.set(pod, probe);
  }

  /** Call when an EndpointSlice contains the Pod with this readiness. */
  observed(pod: string, ready: boolean, at: number): void {
    const probe = this.#open.get(pod);
    if (probe === undefined || probe.ready !== ready) return;
    probe.seenAt = at;
    this.#open.delete(pod);
  }

  /** Whether the last change of the Pod has not been observed. */
  isPending(pod: string): boolean {
    return this.#open.has(pod);
  }

  /** The changes made in a period. */
  between(from: number, to: number): ObservedChanges {
    const made = this.#probes.filter(({ at }) => at >= from && at < to);
    const times = made.flatMap(({ at, seenAt }) => (seenAt === undefined ? [] : [seenAt - at]));
    return { count: made.length, unseen: made.length - times.length, slowestMs: Math.max(0, ...times) };
  }

  /** Milliseconds; undefined if nothing changed or a change was never observed. */
  after(actionAt: number): number | undefined {
    const concerned = this.#probes.filter(
      ({ at, seenAt = Number.POSITIVE_INFINITY }) => at < actionAt + probedMs && seenAt > actionAt,
    );
    const last = Math.max(...concerned.map(({ seenAt = Number.POSITIVE_INFINITY }) => seenAt));
    return Number.isFinite(last) ? last - actionAt : undefined;
  }
}
