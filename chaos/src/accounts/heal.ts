/** A change of a Pod's readiness. Times are milliseconds on one clock. */
interface Probe {
  readonly ready: boolean;
  readonly at: number;
  seenAt: number | undefined;
}

/** So long after an action changes count as made just after it. */
const probedMs = 500;

/**
 * How long the fleet took to do its work again after an action: until every change made in the half second after it, or
 * open when it came, could be read in the EndpointSlices. Actions that overlap count in each other's time. A Pod that is
 * probed changes again only when its last change has been read: none takes the place of another.
 */
export class Healing {
  readonly #probes: Probe[] = [];
  /** By Pod. */
  readonly #open = new Map<string, Probe>();

  /** The API server has taken a change. */
  flipped(pod: string, ready: boolean, at: number): void {
    const probe = { ready, at, seenAt: undefined };
    this.#probes.push(probe);
    this.#open.set(pod, probe);
  }

  /** An EndpointSlice shows the Pod so. */
  shown(pod: string, ready: boolean, at: number): void {
    const probe = this.#open.get(pod);
    if (probe === undefined || probe.ready !== ready) return;
    probe.seenAt = at;
    this.#open.delete(pod);
  }

  /** A change of the Pod is not to be read yet. */
  isOpen(pod: string): boolean {
    return this.#open.has(pod);
  }

  /** Milliseconds; undefined if nothing was changed, or a change was never to be read. */
  after(actionAt: number): number | undefined {
    const concerned = this.#probes.filter(
      ({ at, seenAt = Number.POSITIVE_INFINITY }) => at < actionAt + probedMs && seenAt > actionAt,
    );
    const last = Math.max(...concerned.map(({ seenAt = Number.POSITIVE_INFINITY }) => seenAt));
    return Number.isFinite(last) ? last - actionAt : undefined;
  }
}
