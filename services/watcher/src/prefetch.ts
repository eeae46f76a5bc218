import { type ClusterReader, chainReader, EarlyWatches } from '@sluice/kubernetes';
import type { Clock } from '@sluice/runtime';

/** How long watches stay open for a lease that does not come, in milliseconds: longer than a lease lasts. */
const keepMs = 2_000;
/** Events of each resource that are read before the lease comes: what decodes in a few tenths of a second. */
const readAhead = 5_000;
/** Time between two false alarms, in milliseconds: each costs the API server a list of everything. */
const pauseMs = 30_000;

/**
 * Opens the watches of a cluster while the lease of its watcher is about to expire, so that the initial lists arrive with the
 * lease. They begin after the silence of the late watcher, so they are not older than what it has published.
 */
export class Prefetch {
  readonly #reader: ClusterReader;
  readonly #clock: Clock;
  #open: { readonly watches: EarlyWatches; readonly stop: AbortController; readonly cancel: () => void } | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(reader: ClusterReader, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** Opens the watches unless they are open, or were opened in vain a short time ago. */
  start(): void {
    const now = this.#clock.monotonic();
    if (this.#open !== undefined || now < this.#notBefore || this.#reader.watchList !== true) return;
    const stop = new AbortController();
    const cancel = this.#clock.schedule(keepMs, () => {
      this.#open = undefined;
      this.#notBefore = now + pauseMs;
      stop.abort();
    });
    this.#open = { watches: new EarlyWatches(this.#reader, stop.signal, readAhead), stop, cancel };
  }

  /** Reads the cluster, from the open watches first. Those that nobody reads close with `signal`. */
  reader(signal: AbortSignal): ClusterReader {
    const open = this.#open;
    if (open === undefined) return this.#reader;
    this.#open = undefined;
    open.cancel();
    signal.addEventListener('abort', () => open.stop.abort(), { once: true });
    return chainReader(this.#reader, open.watches.middleware);
  }

  /** Closes the watches that are open. */
  close(): void {
    this.#open?.cancel();
    this.#open?.stop.abort();
    this.#open = undefined;
  }
}
