import { leaderAnnotation } from '@sluice/controllers';
import {
  type Cause,
  formatServiceKey,
  partitionOf,
  type ResyncRequest,
  type ServiceKey,
  shortDigest,
  watcherStarted,
} from '@sluice/messages';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { digest } from './compose.ts';
import { type Inventory, objectName } from './inventory.ts';
import type { Ledger } from './ledger.ts';
import type { Mark } from './marks.ts';
import type { Publisher } from './publisher.ts';

interface Options extends Pick<ClusterWatcherOptions, 'bus' | 'cluster' | 'clock' | 'logger'> {
  readonly inventory: Inventory;
  readonly publisher: () => Publisher;
}

/** Marks many Services of a cluster whose lists are in, to be told at the start, at a resync, or because somebody asks. */
export class Telling {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A Service that is gone may still have Endpoints to be swept or mirrored slices to be cleaned up. */
  tellAll(mark: Mark, description: string, isAsked?: (key: ServiceKey) => boolean): readonly string[] {
    return this.markAll(mark, { description, observedAt: this.#options.clock.now() }, isAsked);
  }

  /** Returns the formatted keys of what was marked. */
  markAll(mark: Mark, cause?: Cause, isAsked: (key: ServiceKey) => boolean = () => true): readonly string[] {
    const marked: string[] = [];
    const names = new Set([
      ...this.#options.inventory.services.keys(),
      ...this.#options.inventory.endpoints.keys(),
      ...this.#options.inventory.servicesWithSlices,
    ]);
    for (const name of names) {
      const [namespace = '', service = ''] = name.split('/');
      const key = { cluster: this.#options.cluster, namespace, service };
      if (!isAsked(key)) continue;
      this.#options.publisher().mark(namespace, service, mark, cause);
      marked.push(formatServiceKey(key));
    }
    // What went before is told once more, in case that news was lost, and then forgotten.
    for (const key of this.#options.publisher().told) {
      const { namespace, service } = key;
      if (names.has(objectName(namespace, service)) || !isAsked(key)) continue;
      this.#options.publisher().mark(namespace, service, mark, cause);
      this.#options.publisher().forget(namespace, service);
      marked.push(formatServiceKey(key));
    }
    return marked;
  }

  /** Tells each Service, but for those of which another watcher told just this, and the ledger has it. */
  tellNews(ledger: Ledger | undefined): void {
    const { cluster, logger } = this.#options;
    for (const text of ledger?.remembered ?? []) this.#options.publisher().resume(text);
    const isNews = (key: ServiceKey): boolean => {
      const stored = ledger?.digest(formatServiceKey(key));
      if (stored === undefined || this.#isLeftover(key)) return true;
      const known = digest(this.#options.inventory, key.namespace, key.service);
      return known === undefined || shortDigest(known) !== stored;
    };
    const told = this.tellAll({ on: 'snapshot', start: true }, watcherStarted, isNews);
    if (ledger !== undefined) {
      logger.info('all lists are in', { cluster, told: told.length, unchanged: ledger.remembered.size - told.length });
    }
  }

  /** Marks the Services that are asked for, and returns them as formatted keys. */
  answer(request: ResyncRequest | null): readonly string[] {
    const { bus, cluster, logger } = this.#options;
    if (request === null) return this.tellAll({ on: 'snapshot', start: false }, 'resync');
    const { scope, reason } = request;
    const what = `resync: ${reason}`;
    if ('partition' in scope) {
      logger.info('telling a partition again', { partition: scope.partition, reason });
      const isAsked = (key: ServiceKey) => partitionOf(formatServiceKey(key), bus.partitions) === scope.partition;
      return this.tellAll({ on: 'snapshot', start: false }, what, isAsked);
    }
    if (scope.key.cluster !== cluster) return [];
    const { namespace, service } = scope.key;
    logger.info('telling a Service again', { namespace, service, reason });
    const cause = { description: what, observedAt: this.#options.clock.now() };
    this.#options.publisher().mark(namespace, service, { on: 'snapshot', start: false }, cause);
    return [formatServiceKey(scope.key)];
  }

  /** Endpoints without a Service, which a starting watcher has swept (D4). */
  #isLeftover({ namespace, service }: ServiceKey): boolean {
    const name = objectName(namespace, service);
    const endpoints = this.#options.inventory.endpoints.get(name);
    if (endpoints === undefined || this.#options.inventory.services.has(name)) return false;
    return endpoints.metadata.annotations?.[leaderAnnotation] === undefined;
  }
}
