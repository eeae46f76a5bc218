import { BusClosedError } from '@sluice/bus';
import { type Resource, resourcesOfReader, watchedResources } from '@sluice/kubernetes';
import type { ResyncRequest } from '@sluice/messages';
import { aborted, orAborted, type Permit, runWithBackoff, sleep, untilNextTick } from '@sluice/platform';
import type { ChangeSequence } from './change-records.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { Compactor } from './compactor.ts';
import { EventHandler, Router } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { Informer } from './informer.ts';
import type { PublishedState } from './published-state.ts';
import { Publisher } from './publisher.ts';
import { readResyncRequests } from './read-resync-requests.ts';
import { Resyncer } from './resyncer.ts';

/** How often the published state is saved. */
const checkpointPeriodMs = 1_000;
/** Rounds in which each Service's digest is published once. */
const digestRounds = 60;
/** How long a stopping watcher waits for appends and commits in flight. */
const flushTimeoutMs = 500;

/**
 * One run of a watcher:
 *
 *     reflectors → EventHandler → Indexer → Router → DirtySet → Publisher → bus
 *
 * Nothing is published before the caches are synced and `publishAfter` resolves. Then every changed Service gets a snapshot,
 * and later changes follow.
 */
export class WatchSession {
  readonly #options: ClusterWatcherOptions;
  readonly #publishedState: PublishedState | undefined;
  readonly #indexer: Indexer;
  readonly #informer: Informer;
  readonly #publisher: Publisher;
  readonly #resyncer: Resyncer;
  readonly #compactor: Compactor | undefined;
  readonly #synced = Promise.withResolvers<void>();
  readonly #published = Promise.withResolvers<void>();
  readonly #loaded = Promise.withResolvers<void>();
  /** Whether the initial snapshots were published, so that changes follow. */
  #isPublishing = false;
  readonly #historyRestarted = new AbortController();
  #stop: AbortSignal | undefined;
  /** Changes of this session have higher sequences. */
  readonly #firstSequence: number;

  /** `permit`: to list, renewed by each progress. */
  constructor(
    options: ClusterWatcherOptions,
    publishedState: PublishedState | undefined,
    sequence: ChangeSequence,
    permit?: Permit,
  ) {
    this.#options = options;
    this.#publishedState = publishedState;
    this.#firstSequence = sequence.last;
    const watched = resourcesOfReader(options.reader);
    const indexer = new Indexer(watchedResources.filter((resource) => !watched.includes(resource)));
    const publisher = new Publisher({
      ...options,
      sequence,
      indexer,
      publishedState,
    });
    const router = new Router(indexer, (namespace, service, reason, cause) => {
      if (!this.#isPublishing) return;
      publisher.markDirty(namespace, service, reason, cause);
      // At once: the next event replaces the object in the indexer.
      if (options.recordEachEvent) publisher.publish(namespace, service);
    });
    this.#indexer = indexer;
    this.#publisher = publisher;
    this.#resyncer = new Resyncer({ ...options, indexer, publisher, publishedState });
    this.#compactor = options.compaction && new Compactor({ ...options, indexer, compaction: options.compaction });
    this.#informer = new Informer({
      ...options,
      permit,
      indexer,
      handler: new EventHandler(indexer, router),
      notOlderThan: (resource) => publishedState?.resourceVersion(resource) ?? '',
      onSynced: () => {
        const { publishAfter } = options;
        const loaded = () => this.#loaded.resolve();
        if (publishAfter === undefined) {
          this.#publishInitial();
          void this.#publisher.idle().then(loaded, loaded);
        } else {
          void publishAfter.then(() => this.#publishInitial(), neverPublish);
          loaded();
        }
        this.#synced.resolve();
      },
      onHistoryRestarted: (proof) => {
        options.logger.warn('resourceVersions decreased; the cluster was restored from a backup', {
          proof,
        });
        this.#historyRestarted.abort();
      },
      onRelisted: (resource) => {
        if (isWritten(resource) && this.#isPublishing) this.#resyncer.markAll({ kind: 'relist' });
      },
    });
  }

  /** Resolves once the caches are synced. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Resolves once the initial snapshots are published, or with the caches synced if the snapshots wait for something else. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Publishes a snapshot of every Service. Does nothing before the initial snapshots, since they follow. */
  resync(): void {
    if (this.#isPublishing) this.#resyncer.resync();
  }

  /**
   * Runs until `signal` aborts, then waits briefly for appends and commits in flight. Returns true, after all appends, as soon
   * as the cluster's history has restarted: everything known about the cluster is void.
   */
  async run(stop: AbortSignal): Promise<boolean> {
    this.#stop = stop;
    const signal = AbortSignal.any([stop, this.#historyRestarted.signal]);
    await Promise.all([
      this.#informer.run(signal),
      this.#resyncPeriodically(signal),
      this.#publishDigests(signal),
      // Their commits retry until this session closes its published state, so it would never end while the store is down.
      orAborted(this.#checkpointPeriodically(signal), stop),
      orAborted(this.#answerResyncRequests(signal), stop),
      this.#compactPeriodically(signal),
    ]);
    const isRestarted = this.#historyRestarted.signal.aborted && !stop.aborted;
    if (this.#publishedState !== undefined && !this.#historyRestarted.signal.aborted) {
      await this.#flush(this.#publishedState);
    }
    this.#publisher.close();
    if (isRestarted) await this.#publisher.idle();
    else this.#publishedState?.close();
    return isRestarted;
  }

  #publishInitial(): void {
    if (this.#stop?.aborted || this.#historyRestarted.signal.aborted) return;
    this.#resyncer.publishInitial();
    this.#isPublishing = true;
    this.#published.resolve();
  }

  async #resyncPeriodically(signal: AbortSignal): Promise<void> {
    const { clock, random, resyncPeriodMs = 12 * 3_600_000 } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, resyncPeriodMs * (1 + random.next()), signal);
      if (!signal.aborted) this.resync();
    }
  }

  async #compactPeriodically(signal: AbortSignal): Promise<void> {
    if (this.#compactor === undefined) return;
    await Promise.race([this.#published.promise, aborted(signal)]);
    await this.#compactor.run(signal);
  }

  async #publishDigests(signal: AbortSignal): Promise<void> {
    const { bus, clock, digestPeriodMs } = this.#options;
    for (let round = 0; digestPeriodMs !== undefined && !signal.aborted; round++) {
      await sleep(clock, digestPeriodMs, signal);
      if (signal.aborted || !this.#isPublishing) continue;
      for (const { namespace, service } of this.#publisher.published.inRound(round, digestRounds, bus.partitions)) {
        this.#publisher.markDirty(namespace, service, { kind: 'digest' });
      }
    }
  }

  async #checkpointPeriodically(signal: AbortSignal): Promise<void> {
    const publishedState = this.#publishedState;
    if (publishedState === undefined) return;
    while (!signal.aborted) {
      await sleep(this.#options.clock, untilNextTick(this.#options.clock, checkpointPeriodMs), signal);
      if (signal.aborted || !this.#informer.hasSynced) continue;
      try {
        await this.#checkpoint(publishedState);
      } catch (error) {
        if (!publishedState.fenced.aborted) throw error;
      }
    }
  }

  async #checkpoint(publishedState: PublishedState, all = false): Promise<void> {
    const { resourceVersions } = this.#indexer;
    await Promise.all([this.#publisher.checkpoint(all), publishedState.commitResourceVersions(resourceVersions)]);
  }

  /** Waits for appends in flight and persists every digest, so that an orderly restart publishes nothing twice. */
  async #flush(publishedState: PublishedState): Promise<void> {
    const { clock, logger } = this.#options;
    const timeout = new AbortController();
    const flushed = (async () => {
      await this.#publisher.idle();
      if (this.#informer.hasSynced) await this.#checkpoint(publishedState, true);
    })();
    const done = flushed.catch((error: unknown) => {
      if (!publishedState.fenced.aborted) logger.warn('saving published state failed', { error });
    });
    await Promise.race([done.finally(() => timeout.abort()), sleep(clock, flushTimeoutMs, timeout.signal)]);
  }

  async #answerResyncRequests(signal: AbortSignal): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    const publishedState = this.#publishedState;
    // A request left by the previous watcher may concern a Service that the initial publication skips as unchanged.
    if (publishedState?.requestOffset !== undefined) await Promise.race([this.synced, aborted(signal)]);
    const read = () =>
      readResyncRequests(
        {
          bus,
          logger,
          after: publishedState?.requestOffset,
          // The initial snapshots answer every request that arrives before them.
          onRequest: (request) => (this.#isPublishing ? this.#answer(request) : []),
          // A request for a reset is answered by the reset; the next watcher reads it again if this one stops before.
          onAnswered: (offset, services) =>
            this.#historyRestarted.signal.aborted ? undefined : publishedState?.commitRequestOffset(offset, services),
        },
        signal,
      );
    const isFatal = (error: unknown) => error instanceof BusClosedError || publishedState?.fenced.aborted === true;
    try {
      await runWithBackoff(read, { clock, random, logger, isFatal }, signal);
    } catch (error) {
      if (publishedState?.fenced.aborted !== true) throw error;
    }
  }

  #answer(request: ResyncRequest | null): readonly string[] {
    if (request === null || !('restoredCluster' in request.scope)) return this.#resyncer.answer(request);
    const { restoredCluster, stamp } = request.scope;
    const { cluster, logger, fencingToken } = this.#options;
    // A Change of an earlier session: the cluster has been read again since.
    const isOld = stamp.epoch === fencingToken ? stamp.sequence <= this.#firstSequence : this.#firstSequence > 0;
    if (restoredCluster !== cluster || isOld || this.#historyRestarted.signal.aborted) return [];
    logger.warn('cluster was restored from a backup; relisting it', { cluster, proof: request.reason });
    this.#historyRestarted.abort();
    return [];
  }
}

/** The process that was to publish reports the failure. */
const neverPublish = () => {};

const isWritten = (resource: Resource): boolean => resource === 'endpoints' || resource === 'endpointslices';
