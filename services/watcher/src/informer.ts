import { isOlderVersion, Reflector, type Resource, type WatchEvent, watchedResources } from '@sluice/kubernetes';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { type DecodedObject, decodeObject } from './decode-object.ts';
import type { EventHandler } from './event-handler.ts';
import { objectName } from './object-event.ts';

export interface InformerOptions
  extends Pick<
    ClusterWatcherOptions,
    'reader' | 'clock' | 'random' | 'logger' | 'onState' | 'onProgress' | 'onMalformed'
  > {
  readonly handler: EventHandler;
  /** resourceVersion that a previous watcher reached: older lists are stale. Empty if none. */
  readonly notOlderThan: (resource: Resource) => string;
  /** Called once, when every resource has been listed. */
  readonly onSynced: () => void;
  /** Called when a resource is listed again after that. */
  readonly onRelisted: (resource: Resource) => void;
}

/** Runs a reflector for each watched resource and passes what it decodes to the event handler. */
export class Informer {
  readonly #options: InformerOptions;
  readonly #resourceVersions = new Map<Resource, string>();
  readonly #unlisted = new Set<Resource>(watchedResources);

  constructor(options: InformerOptions) {
    this.#options = options;
  }

  /** Whether every resource has been listed, so that the indexer is complete. */
  get hasSynced(): boolean {
    return this.#unlisted.size === 0;
  }

  /** resourceVersion reached of each resource. */
  get resourceVersions(): ReadonlyMap<Resource, string> {
    return this.#resourceVersions;
  }

  resourceVersion(resource: Resource): string {
    return this.#resourceVersions.get(resource) ?? '0';
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(watchedResources.map((resource) => this.#reflector(resource).run(signal)));
  }

  #reflector<R extends Resource>(resource: R): Reflector<DecodedObject<R>> {
    const { reader, clock, random, logger, notOlderThan, onState, onMalformed } = this.#options;
    const reportMalformed = (reason: string) => {
      logger.warn('skipping malformed object', { resource, reason });
      onMalformed?.(resource);
    };
    return new Reflector<DecodedObject<R>>({
      cluster: reader,
      resource,
      decode: (raw) => decodeObject(resource, raw, reportMalformed),
      sink: {
        replace: (objects, resourceVersion) => this.#replace(resource, objects, resourceVersion),
        apply: (events) => this.#apply(resource, events),
      },
      clock,
      random,
      logger,
      ...(reader.watchList && { watchList: true }),
      notOlderThan: notOlderThan(resource),
      onState: (state, detail) => onState?.(resource, state, detail),
      onSkipped: ({ namespace, name, why }) => reportMalformed(`${objectName(namespace, name)}: ${why}`),
    });
  }

  #replace<R extends Resource>(resource: R, objects: readonly DecodedObject<R>[], resourceVersion: string): void {
    const { handler, clock, onProgress, onSynced, onRelisted } = this.#options;
    onProgress?.(resource);
    handler.replace(resource, objects, clock.now());
    this.#resourceVersions.set(resource, resourceVersion);
    if (this.hasSynced) return onRelisted(resource);
    this.#unlisted.delete(resource);
    if (this.#unlisted.size === 0) onSynced();
  }

  #apply<R extends Resource>(resource: R, events: readonly WatchEvent<DecodedObject<R>>[]): void {
    const { handler, clock, onProgress } = this.#options;
    onProgress?.(resource);
    const observedAt = clock.now();
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.#advance(resource, event.resourceVersion);
        continue;
      }
      if (event.type === 'DELETED') handler.delete(resource, event.object, observedAt);
      else handler.upsert(resource, event.object, observedAt);
      this.#advance(resource, event.object.resourceVersion);
    }
  }

  #advance(resource: Resource, version: string): void {
    if (version === '' || !isOlderVersion(this.resourceVersion(resource), version)) return;
    this.#resourceVersions.set(resource, version);
  }
}
