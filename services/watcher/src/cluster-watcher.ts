import { BusClosedError } from '@sluice/bus';
import { orAborted, runWithBackoff } from '@sluice/platform';
import type { ChangeSequence } from './change-records.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { PublishedState } from './published-state.ts';
import { announceRemoval } from './remove-cluster.ts';
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

  /**
   * Runs until `signal` aborts. If the cluster is restored from a backup, everything known about it is discarded, here and in
   * every reconciler, and the cluster is listed and published again (ADR 0051).
   *
   * @throws FencedError if a newer watcher has taken over
   */
  async run(signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const publishedState = store && (await PublishedState.claim({ ...this.#options, store }));
    const stop = publishedState === undefined ? signal : AbortSignal.any([signal, publishedState.fenced]);
    const sequence = { last: 0 };
    try {
      if (publishedState?.isResetting) await this.#reset(publishedState, sequence, stop);
      const permit = await this.#options.listing?.acquire(stop);
      while (!stop.aborted) {
        const session = new WatchSession(this.#options, publishedState, sequence, permit);
        this.#session = session;
        this.#synced.resolve(session.synced);
        if (permit !== undefined) void orAborted(session.loaded, stop).then(permit.release);
        if (await session.run(stop)) await this.#reset(publishedState, sequence, stop);
      }
    } finally {
      publishedState?.close();
    }
    publishedState?.fenced.throwIfAborted();
  }

  /** Discards what is known about the cluster. Continued by the next watcher if this one stops halfway. */
  async #reset(publishedState: PublishedState | undefined, { last }: ChangeSequence, stop: AbortSignal): Promise<void> {
    const reset = async () => {
      await publishedState?.beginReset();
      await announceRemoval({ ...this.#options, after: last });
      await publishedState?.endReset();
      this.#options.onReset?.();
    };
    const isFatal = (error: unknown) => error instanceof BusClosedError || publishedState?.fenced.aborted === true;
    try {
      await runWithBackoff(reset, { ...this.#options, isFatal }, stop);
    } catch (error) {
      if (publishedState?.fenced.aborted !== true) throw error;
    }
  }
}
