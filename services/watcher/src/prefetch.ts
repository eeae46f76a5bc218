import { type ClusterReader, chainReader, EarlyWatches } from '@sluice/kubernetes';
import type { Clock, Semaphore } from '@sluice/platform';
import type { FalseAlarms } from './availability-monitor.ts';

/** How long watches stay open for a lease that does not come, in milliseconds: longer than a lease or a hand-over lasts. */
const keepMs = 2_000;
/** Events of each resource that are read before the lease comes: what decodes in a few tenths of a second. */
const readAhead = 5_000;

interface PrefetchOptions {
  readonly reader: ClusterReader;
  readonly clock: Clock;
  /** Limits how many clusters are read at once. Default: this one is read at once. */
  readonly listing?: Semaphore | undefined;
  /** After a false alarm, nothing is opened for a while: each costs the API server a list of everything. */
  readonly falseAlarms: FalseAlarms;
}

interface Opened {
  /** Resolves with undefined if the watches are not opened anymore. */
  readonly watches: Promise<EarlyWatches | undefined>;
  /** Once they are open. */
  opened: EarlyWatches | undefined;
  readonly stop: AbortController;
  /** Cancels the closing. */
  cancel: () => void;
}

/**
 * Opens the watches of a cluster while its watcher hands it over or its lease is about to expire, so that the initial lists
 * arrive before the lease. The watches continue, so they also have what the other watcher publishes until it stops.
 */
export class Prefetch {
  readonly #options: PrefetchOptions;
  #open: Opened | undefined;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  /**
   * Opens the watches, or keeps them open for longer. Resolves when what can be read before the lease is read: at once if they
   * were opened in vain a short time ago.
   */
  async start(): Promise<void> {
    const { reader, clock, falseAlarms } = this.#options;
    if (this.#open === undefined) {
      if (falseAlarms.isRecent || reader.watchList !== true) return;
      this.#open = this.#openSoon();
    }
    const open = this.#open;
    open.cancel();
    open.cancel = clock.schedule(keepMs, () => {
      this.#open = undefined;
      falseAlarms.report();
      open.stop.abort();
    });
    await (await open.watches)?.ready;
  }

  #openSoon(): Opened {
    const { reader, clock, listing } = this.#options;
    const stop = new AbortController();
    const options = { signal: stop.signal, clock, readAhead };
    const open = async () => {
      const permit = await listing?.acquire(stop.signal);
      if (stop.signal.aborted) {
        permit?.release();
        return undefined;
      }
      const watches = new EarlyWatches(reader, options);
      entry.opened = watches;
      void watches.ready.then(permit?.release);
      return watches;
    };
    const entry: Opened = { watches: open(), opened: undefined, stop, cancel: () => {} };
    return entry;
  }

  /** Reads the cluster, from the open watches first. Those that nobody reads close with `signal`. */
  reader(signal: AbortSignal): ClusterReader {
    const open = this.#open;
    const { reader } = this.#options;
    if (open === undefined) return reader;
    this.#open = undefined;
    open.cancel();
    if (open.opened === undefined) {
      open.stop.abort();
      return reader;
    }
    signal.addEventListener('abort', () => open.stop.abort(), { once: true });
    return chainReader(reader, open.opened.middleware);
  }

  /** Closes the watches that are open. */
  close(): void {
    this.#open?.cancel();
    this.#open?.stop.abort();
    this.#open = undefined;
  }
}
