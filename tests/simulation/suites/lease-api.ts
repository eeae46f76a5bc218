import { ApiError, type ApiRequest, type ApiResponse } from '@sluice/kubernetes';
import { asRecord, asString, type JsonRecord } from '@sluice/platform';

export const apiError = (status: number, reason: string, kind: ApiError['kind'] = 'retry'): ApiError =>
  new ApiError(`injected: ${status} ${reason}`, { kind, status, reason });

/** The Leases of an API server, with its optimistic locking, and a history that etcd can be restored to. */
export class LeaseApi {
  readonly #now: () => number;
  readonly #cluster: string;
  readonly #histories: ReadonlyMap<string, JsonRecord>[] = [];
  #leases: ReadonlyMap<string, JsonRecord> = new Map();
  #version = 1;
  #uids = 0;

  /** @param now the API server's clock */
  constructor(now: () => number, cluster = '') {
    this.#now = now;
    this.#cluster = cluster;
  }

  /** `spec` of the Lease; undefined if there is none. */
  spec(name: string): JsonRecord | undefined {
    const lease = this.#leases.get(name);
    return lease && asRecord(lease.spec);
  }

  delete(name: string): void {
    this.#set([...this.#leases].filter(([other]) => other !== name));
  }

  /** Somebody edits the Lease. */
  edit(name: string, spec: JsonRecord): void {
    const lease = this.#leases.get(name);
    if (lease !== undefined) this.#put(name, { ...lease, spec });
  }

  /** Restores etcd to what it had so many writes ago, with a bumped revision. */
  rollBack(writes: number): void {
    const restored = this.#histories[Math.max(0, this.#histories.length - writes)];
    if (restored === undefined) return;
    this.#version += 1_000_000;
    this.#set([...restored]);
  }

  /** Executes a request. */
  handle({ method, path, body }: ApiRequest): ApiResponse {
    const { pathname, searchParams } = new URL(path, 'https://server');
    const given = asRecord(body);
    const metadata = asRecord(given.metadata);
    const name = method === 'POST' ? asString(metadata.name) : pathname.slice(pathname.lastIndexOf('/') + 1);
    const stored = this.#leases.get(name);
    if (method === 'POST' && stored !== undefined) throw apiError(409, 'AlreadyExists', 'conflict');
    if (method !== 'POST' && stored === undefined) throw apiError(404, 'NotFound', 'notFound');
    if (method !== 'GET' && !searchParams.has('dryRun')) {
      const current = asRecord(asRecord(stored).metadata);
      if (method === 'PUT' && metadata.resourceVersion !== current.resourceVersion)
        throw apiError(409, 'Conflict', 'conflict');
      const uid = method === 'POST' ? `${this.#cluster}/${++this.#uids}` : current.uid;
      this.#put(name, { ...given, metadata: { ...metadata, uid } });
    }
    const headers = { date: new Date(this.#now()).toUTCString() };
    return { status: 200, headers, body: this.#leases.get(name) ?? given };
  }

  #put(name: string, lease: JsonRecord): void {
    this.#version += 1;
    const metadata = { ...asRecord(lease.metadata), resourceVersion: String(this.#version) };
    this.#set([...this.#leases, [name, { ...lease, metadata }]]);
  }

  #set(leases: readonly (readonly [string, JsonRecord])[]): void {
    this.#histories.push(this.#leases);
    this.#leases = new Map(leases);
  }
}
