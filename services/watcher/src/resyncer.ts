import { isLeftover, podOf } from '@sluice/controllers';
import { includesNamespace } from '@sluice/kubernetes';
import {
  type Cause,
  formatServiceKey,
  parseServiceKey,
  partitionOf,
  type ResyncRequest,
  type ServiceKey,
  shortDigest,
  watcherFound,
  watcherStarted,
} from '@sluice/messages';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { digestService } from './compose-changes.ts';
import type { DirtyReason } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';
import type { PublishedState } from './published-state.ts';
import type { Publisher } from './publisher.ts';
import { objectName, parseObjectName } from './watched-objects.ts';

export interface ResyncerOptions
  extends Pick<ClusterWatcherOptions, 'bus' | 'cluster' | 'clock' | 'logger' | 'reader'> {
  readonly indexer: Indexer;
  readonly publisher: Publisher;
  readonly publishedState: PublishedState | undefined;
}

const snapshot: DirtyReason = { kind: 'snapshot', initial: false };

/** Marks many Services dirty at once: after the initial lists, at a resync, or on request. Expects synced caches. */
export class Resyncer {
  readonly #options: ResyncerOptions;

  constructor(options: ResyncerOptions) {
    this.#options = options;
  }

  /** Publishes a snapshot of every Service. Parked Services are tried again. */
  resync(): readonly string[] {
    return this.#publishAll(snapshot, 'resync');
  }

  /**
   * Marks every Service that `matches`, and returns their formatted keys. Deleted Services are included: Endpoints may be
   * left to sweep, or mirrored slices to clean up.
   */
  markAll(
    reason: DirtyReason,
    causeOf?: (key: ServiceKey) => Cause,
    matches: (key: ServiceKey) => boolean = () => true,
  ): readonly string[] {
    const { cluster, indexer, publisher } = this.#options;
    const marked: string[] = [];
    const names = indexer.serviceNames();
    for (const name of names) {
      const { namespace, name: service } = parseObjectName(name);
      const key = { cluster, namespace, service };
      if (!matches(key)) continue;
      publisher.markDirty(namespace, service, reason, causeOf?.(key));
      marked.push(formatServiceKey(key));
    }
    // A Service of which nothing is left is published once more, in case its deletion was lost, and then dropped.
    for (const key of publisher.published) {
      const { namespace, service } = key;
      if (names.has(objectName(namespace, service)) || !matches(key)) continue;
      publisher.markDirty(namespace, service, reason, causeOf?.(key));
      publisher.published.delete(formatServiceKey(key));
      marked.push(formatServiceKey(key));
    }
    return marked;
  }

  /** Publishes each Service whose state differs from what a previous watcher published according to the checkpoint. */
  publishInitial(): void {
    const { logger, indexer, publisher, publishedState } = this.#options;
    for (const service of publishedState?.restoredServices ?? []) {
      // Changes of other namespaces by an earlier watcher are kept, because another watcher serves these namespaces now.
      if (this.#serves(parseServiceKey(service).namespace)) publisher.published.restore(service);
    }
    let unchanged = 0;
    const isChanged = (key: ServiceKey): boolean => {
      const stored = publishedState?.digest(formatServiceKey(key));
      const name = objectName(key.namespace, key.service);
      if (stored === undefined || isLeftover(indexer.endpoints.get(name), indexer.services.get(name))) return true;
      const current = digestService(indexer, key.namespace, key.service);
      if (current === undefined || shortDigest(current) !== stored) return true;
      // Reachable: unchanged Service not published again after a take-over
      unchanged++;
      return false;
    };
    const observedAt = this.#options.clock.now();
    const causeOf = (key: ServiceKey) => ({ description: this.#found(key), observedAt });
    const published = this.markAll({ kind: 'snapshot', initial: true }, causeOf, isChanged).length;
    if (publishedState !== undefined) {
      logger.info('caches synced', { published, unchanged });
    }
  }

  /**
   * Marks the requested Services and returns their formatted keys. Null stands for requests that were lost: everything is
   * resynced.
   */
  answer(request: ResyncRequest | null): readonly string[] {
    const { bus, cluster, logger, publisher } = this.#options;
    if (request === null) {
      // Reachable: resync requests lost
      return this.resync();
    }
    const { scope, reason } = request;
    const description = `resync: ${reason}`;
    if ('partition' in scope) {
      if (scope.cluster !== undefined && scope.cluster !== cluster) return [];
      logger.info('resyncing partition', { partition: scope.partition, reason });
      publisher.resyncRequested(scope.partition);
      const matches = (key: ServiceKey) => partitionOf(formatServiceKey(key), bus.partitions) === scope.partition;
      return this.#publishAll(snapshot, description, matches);
    }
    if (!('key' in scope) || scope.key.cluster !== cluster) return [];
    const { namespace, service } = scope.key;
    if (!this.#serves(namespace)) return [];
    logger.info('resyncing service', { service: objectName(namespace, service), reason });
    const cause = { description, observedAt: this.#options.clock.now() };
    publisher.markDirty(namespace, service, snapshot, cause);
    return [formatServiceKey(scope.key)];
  }

  #serves(namespace: string): boolean {
    return includesNamespace(this.#options.reader.namespaces, namespace);
  }

  #publishAll(reason: DirtyReason, description: string, matches?: (key: ServiceKey) => boolean): readonly string[] {
    const cause = { description, observedAt: this.#options.clock.now() };
    return this.markAll(reason, () => cause, matches);
  }

  /** Names the Pods that went while nobody watched, which are the reason for the writes that follow. */
  #found({ namespace, service }: ServiceKey): string {
    const { indexer } = this.#options;
    const name = objectName(namespace, service);
    if ((indexer.services.get(name)?.selector ?? null) === null) return watcherStarted;
    const pods = indexer.podsOfService(name);
    const gone = new Set<string>();
    for (const { endpoints } of indexer.slicesOfService(name).values()) {
      for (const endpoint of endpoints ?? []) {
        const pod = podOf(endpoint);
        if (pod !== '' && !pods.has(pod)) gone.add(objectName(namespace, pod));
      }
    }
    return gone.size === 0 ? watcherStarted : watcherFound([...gone]);
  }
}
