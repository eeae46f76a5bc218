import { type FakeApiServer, isStatusError, type ResourceName, type StoredObject } from '@sluice/fake-apiserver';
import { type ApiClient, isApiError, type RawObject } from '@sluice/kubernetes';
import { asRecord, type Clock, errorMessage, type Logger, sleep } from '@sluice/platform';
import type { SimulatorApi } from '../simulator/simulator-api.ts';
import { type MirroredResource, managedBy, manifestOf, pathOf, selector } from './manifest.ts';

export interface ClusterMirrorOptions {
  /** What the simulator reads and writes at once, and the API server gets later. */
  readonly model: FakeApiServer;
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Key {
  readonly resource: MirroredResource;
  readonly namespace: string;
  readonly name: string;
}

/** What the API server has of an object, as JSON. */
interface Applied {
  readonly manifest: string;
  readonly status: string;
  readonly isDeleted: boolean;
}

const requestTimeoutMs = 5_000;
const retryDelayMs = 1_000;
const idleMs = 50;
const comparisonPeriodMs = 5_000;
/** Resources of which the API server may have more than the model, or less after a user deleted some. */
const compared = ['nodes', 'services', 'pods'] as const;

const idOf = ({ resource, namespace, name }: Key): string => `${resource}/${namespace}/${name}`;

/**
 * Brings a real API server to the state of a simulated cluster, and keeps it there. One write at a time, of the latest state of an
 * object, so that a slow or absent API server delays the changes and loses none.
 */
export class ClusterMirror implements SimulatorApi {
  readonly #options: ClusterMirrorOptions;
  readonly #pending = new Map<string, Key>();
  readonly #applied = new Map<string, Applied>();
  #comparedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClusterMirrorOptions) {
    this.#options = options;
  }

  create(resource: ResourceName, object: RawObject): void {
    const { metadata } = this.#options.model.create(resource, object);
    this.#changed(resource, metadata.namespace ?? '', metadata.name);
  }

  patch(...args: Parameters<SimulatorApi['patch']>): void {
    this.#options.model.patch(...args);
    this.#changed(args[0], args[1], args[2]);
  }

  delete(...args: Parameters<SimulatorApi['delete']>): void {
    this.#options.model.delete(...args);
    this.#changed(args[0], args[1], args[2]);
  }

  list(resource: ResourceName): { readonly items: readonly StoredObject[] } {
    return this.#options.model.list(resource);
  }

  /** Writes until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    let failure = '';
    while (!signal.aborted) {
      try {
        if (clock.monotonic() - this.#comparedAt >= comparisonPeriodMs) await this.#compare(signal);
        const [next] = this.#pending.values();
        if (next === undefined) await sleep(clock, idleMs, signal);
        else await this.#write(next, signal);
        if (failure !== '') logger.info('writing simulated objects again');
        failure = '';
      } catch (error) {
        if (signal.aborted) return;
        const reason = errorMessage(error);
        if (reason !== failure) logger.warn('cannot write simulated objects; retrying', { reason });
        failure = reason;
        await sleep(clock, retryDelayMs, signal);
      }
    }
  }

  #changed(resource: ResourceName, namespace: string, name: string): void {
    // The API server has its own, and controllers write slices.
    if (resource === 'events' || resource === 'endpointslices' || (namespace === 'default' && name === 'kubernetes'))
      return;
    const key = { resource, namespace, name };
    this.#pending.set(idOf(key), key);
  }

  async #write(key: Key, signal: AbortSignal): Promise<void> {
    const id = idOf(key);
    // First, so that a change during the write is written as well; last in the order if it fails.
    this.#pending.delete(id);
    try {
      const object = this.#find(key);
      if (object === undefined) await this.#remove(key, signal, 0);
      // A scheduler would bind it by another request; here it is created with its Node.
      else if (key.resource !== 'pods' || asRecord(object.spec).nodeName !== undefined)
        await this.#apply(key, object, signal);
      if (object === undefined) this.#applied.delete(id);
    } catch (error) {
      if (isApiError(error) && error.kind === 'notFound') return this.#vanished(key);
      if (!this.#pending.has(id)) this.#pending.set(id, key);
      throw error;
    }
  }

  async #apply(key: Key, object: StoredObject, signal: AbortSignal): Promise<void> {
    const id = idOf(key);
    const { manifest, status } = manifestOf(key.resource, object);
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    const wanted = { manifest: JSON.stringify(manifest), status: JSON.stringify(status ?? null), isDeleted };
    const known = this.#applied.get(id);
    if (known?.manifest !== wanted.manifest) await this.#request(key, 'PATCH', signal, { body: manifest });
    if (status !== undefined && known?.status !== wanted.status)
      await this.#request(key, 'PATCH', signal, { body: status, subresource: '/status' });
    if (isDeleted && !known?.isDeleted) await this.#remove(key, signal);
    this.#applied.set(id, wanted);
  }

  async #remove(key: Key, signal: AbortSignal, gracePeriodSeconds?: number): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    };
    try {
      await this.#request(key, 'DELETE', signal, { body });
    } catch (error) {
      if (!isApiError(error) || error.kind !== 'notFound') throw error;
    }
  }

  async #request(
    { resource, namespace, name }: Key,
    method: 'PATCH' | 'DELETE',
    signal: AbortSignal,
    { body, subresource = '' }: { readonly body: RawObject; readonly subresource?: string },
  ): Promise<void> {
    const path = pathOf(resource, namespace, name) + subresource;
    const isPatch = method === 'PATCH';
    await this.#options.client.request({
      method,
      path: isPatch ? `${path}?fieldManager=${managedBy}&force=true` : path,
      body,
      headers: { 'content-type': isPatch ? 'application/apply-patch+yaml' : 'application/json' },
      object: { resource, name },
      timeoutMs: requestTimeoutMs,
      signal,
    });
  }

  /** Deletes what an earlier run left, and follows users who deleted objects. */
  async #compare(signal: AbortSignal): Promise<void> {
    for (const resource of compared) {
      const path = `${pathOf(resource)}?${selector}`;
      const { body } = await this.#options.client.request({ method: 'GET', path, timeoutMs: requestTimeoutMs, signal });
      const found = new Set<string>();
      for (const { metadata } of asRecord(body).items as readonly Pick<StoredObject, 'metadata'>[]) {
        const key = { resource, namespace: metadata.namespace ?? '', name: metadata.name };
        found.add(idOf(key));
        const isTerminating = metadata.deletionTimestamp !== undefined;
        const object = this.#find(key);
        if (object === undefined) this.#changed(key.resource, key.namespace, key.name);
        else if (isTerminating && resource === 'pods' && object.metadata.deletionTimestamp === undefined)
          this.delete(resource, key.namespace, key.name);
      }
      for (const { metadata } of this.list(resource).items) {
        const key = { resource, namespace: metadata.namespace ?? '', name: metadata.name };
        if (this.#applied.has(idOf(key)) && !found.has(idOf(key))) this.#vanished(key);
      }
    }
    this.#comparedAt = this.#options.clock.monotonic();
  }

  /** Somebody deleted an object. The simulator replaces a Pod; others are written again. */
  #vanished(key: Key): void {
    this.#applied.delete(idOf(key));
    if (key.resource === 'pods' && this.#find(key) !== undefined)
      this.delete('pods', key.namespace, key.name, { gracePeriodSeconds: 0 });
    else this.#changed(key.resource, key.namespace, key.name);
  }

  #find({ resource, namespace, name }: Key): StoredObject | undefined {
    try {
      return this.#options.model.get(resource, namespace, name);
    } catch (error) {
      if (isStatusError(error) && error.status.code === 404) return undefined;
      throw error;
    }
  }
}
