import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { PublishedState } from './published-state.ts';
import { WatchSession } from './watch-session.ts';

/**
 * Watches one cluster and publishes its changes, routed to the Services they concern. With a store, it publishes only
 * what changed since the previous watcher, and stops when a newer watcher takes over.
 */
export class ClusterWatcher {
  readonly #options: ClusterWatcherOptions;
  readonly #synced = Promise.withResolvers<void>();
  #session: WatchSession | undefined;

  constructor(options: ClusterWatcherOptions) {
    this.#options = options;
  }

  /** Resolves once the caches are synced. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Publishes a snapshot of every Service. Parked Services are tried again. */
  resync(): void {
    this.#session?.resync();
  }

  /** Runs until `signal` aborts. Throws FencedError if a newer watcher has taken over. */
  async run(signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const publishedState = store && (await PublishedState.claim({ ...this.#options, store }));
    const session = new WatchSession(this.#options, publishedState);
    this.#session = session;
    this.#synced.resolve(session.synced);
    await session.run(publishedState === undefined ? signal : AbortSignal.any([signal, publishedState.fenced]));
    publishedState?.fenced.throwIfAborted();
  }
}
