import { ApiError, type ApiErrorKind, type ClusterWriter, type RawObject, type WrittenMeta } from '@sluice/kubernetes';
import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';

export function apiError(kind: ApiErrorKind, status: number, retryAfterMs?: number): ApiError {
  return new ApiError(`${kind} ${status}`, { kind, status, reason: `R${status}`, retryAfterMs });
}

export const conflict = apiError('conflict', 409);
export const notFound = apiError('notFound', 404);
export const forbidden = apiError('terminal', 403);
export const unavailable = apiError('retry', 503);
export const terminating = apiError('namespaceTerminating', 403);

/** Fake cluster with scripted failures; all other requests succeed. Records requests as `verb name`. */
export class ScriptedCluster implements ClusterWriter {
  readonly requests: string[] = [];
  /** Stored objects by name, for `get`. */
  readonly objects = new Map<string, RawObject>();
  /** Objects whose deletion finalizers hold back, by name. */
  readonly held = new Map<string, RawObject>();
  readonly #errors = new Map<string, unknown[]>();
  readonly #gates = new Map<string, () => void>();
  #version = 100;

  /** The next requests with this `verb name` fail with these errors, in order. */
  fails(request: string, ...errors: unknown[]): void {
    this.#errors.set(request, errors);
  }

  /** Requests with this `verb name` wait until `open`. */
  shut(request: string): void {
    this.#gates.set(request, () => {});
  }

  open(request: string): void {
    this.#gates.get(request)?.();
    this.#gates.delete(request);
  }

  openAll(): void {
    for (const request of [...this.#gates.keys()]) this.open(request);
  }

  async get(_resource: WrittenResource, _namespace: string, name: string): Promise<RawObject> {
    await this.#request(`get ${name}`);
    const object = this.objects.get(name);
    if (object === undefined) throw notFound;
    return object;
  }

  create(_resource: WrittenResource, { metadata }: Endpoints | EndpointSlice): Promise<WrittenMeta> {
    return this.#write(`create ${metadata.name}`, metadata.name);
  }

  update(_resource: WrittenResource, { metadata }: Endpoints | EndpointSlice): Promise<WrittenMeta> {
    return this.#write(`update ${metadata.name}`, metadata.name);
  }

  async delete(
    _resource: WrittenResource,
    _namespace: string,
    name: string,
    { uid, resourceVersion }: { uid?: string; resourceVersion?: string },
  ): Promise<RawObject | undefined> {
    await this.#request(`delete ${name}`, `delete ${name} ${uid}@${resourceVersion}`);
    return this.held.get(name);
  }

  async #write(request: string, name: string): Promise<WrittenMeta> {
    await this.#request(request);
    return { name, uid: `uid-${name}`, resourceVersion: `${++this.#version}`, generation: 1 };
  }

  async #request(request: string, noted = request): Promise<void> {
    this.requests.push(noted);
    if (this.#gates.has(request)) await new Promise<void>((resolve) => this.#gates.set(request, resolve));
    const error = this.#errors.get(request)?.shift();
    if (error !== undefined) throw error;
  }
}
