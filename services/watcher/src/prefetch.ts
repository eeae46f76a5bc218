import { type ClusterReader, chainReader, EarlyWatches } from '@sluice/kubernetes';
import type { Clock } from '@sluice/runtime';

/** How long watches stay open for a lease that does not come, in milliseconds: longer than a lease or a hand-over lasts. */
const keepMs = 2_000;
/** Events of each resource that are read before the lease comes: what decodes in a few tenths of a second. */
const readAhead = 5_000;
/** Time between two false alarms, in milliseconds: each costs the API server a list of everything. */
const pauseMs = 30_000;

interface Opened {
  readonly watches: EarlyWatches;
  readonly stop: AbortController;
  /** Cancels the closing. */
  cancel: () => void;
}

/**
 * Opens the watches of a cluster while its watcher hands it over or its lease is about to expire, so that the initial lists
 * arrive before the lease. The watches continue, so they also have what the other watcher publishes until it stops.
 */
export class Prefetch {
  readonly #reader: ClusterReader;
  readonly #clock: Clock;
  #open: Opened | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(reader: ClusterReader, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /**
   * Opens the watches, or keeps them open for longer. Resolves when what can be read before the lease is read: at once if they
   * were opened in vain a short time ago.
   */
  async start(): Promise<void> {
    if (this.#open === undefined) {
      if (this.#clock.monotonic() < this.#notBefore || this.#reader.watchList !== true) return;
      const stop = new AbortController();
      const options = { signal: stop.signal, clock: this.#clock, readAhead };
      this.#open = { watches: new EarlyWatches(this.#reader, options), stop, cancel: () => {} };
    }
    const open = this.#open;
    open.cancel();
    open.cancel = this.#clock.schedule(keepMs, () => {
      this.#open = undefined;
      this.#notBefore = this.#clock.monotonic() + pauseMs;
      open.stop.abort();
    });
    await open.watches.ready;
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
