/** Minimum time between two probes, in milliseconds, so that a cluster without watcher causes no flood of requests. */
const probeIntervalMs = 60_000;

/**
 * Finds Services that no watcher publishes. A watcher compares each of its Services from time to time; a Service without
 * any Change for longer than that may have been deleted while its watcher was down, and the deletion was lost. A resync
 * request settles it: the watcher answers with the Service, or with its absence.
 */
export class LivenessProbe {
  /** Time of the last Change or probe by formatted key, the oldest first. */
  readonly #lastSeen = new Map<string, number>();
  readonly #silenceMs: number;
  #lastProbe = Number.NEGATIVE_INFINITY;

  /** `silenceMs`: longer than the interval at which watchers compare each Service. */
  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** A Change of the Service has arrived. */
  observe(key: string, now: number): void {
    this.#lastSeen.delete(key);
    this.#lastSeen.set(key, now);
  }

  /** The state of the Service was dropped. */
  remove(key: string): void {
    this.#lastSeen.delete(key);
  }

  /** When the next Service is to be probed. */
  get dueAt(): number | undefined {
    const [oldest] = this.#lastSeen.values();
    if (oldest === undefined) return undefined;
    return Math.max(oldest + this.#silenceMs, this.#lastProbe + probeIntervalMs);
  }

  /** Takes a Service to be probed now, if one is due. */
  take(now: number): string | undefined {
    const { dueAt } = this;
    const [key] = this.#lastSeen.keys();
    if (key === undefined || dueAt === undefined || dueAt > now) return undefined;
    this.#lastProbe = now;
    this.observe(key, now);
    return key;
  }
}
