import { ApiError, type ApiErrorKind, type ApiRequest, type ApiResponse } from '@sluice/kubernetes';
import { asRecord, asString, type JsonRecord } from '@sluice/platform';

const kinds: Readonly<Record<number, ApiErrorKind>> = { 404: 'notFound', 409: 'conflict' };

export const rejected = (status: number) =>
  new ApiError(`status ${status}`, { kind: kinds[status] ?? 'retry', status, reason: '' });

/** The Leases of an API server, with optimistic locking. */
export class LeaseServer {
  readonly server = 'https://cluster.example.org';
  readonly #specs = new Map<string, JsonRecord>();
  readonly #now: () => number;
  #version = 0;

  /** @param now the API server's clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The spec of the Lease; undefined if it does not exist. */
  spec(name: string): JsonRecord | undefined {
    return this.#specs.get(name);
  }

  /** Another client writes the Lease, or deletes it. */
  write(name: string, spec: JsonRecord | undefined): void {
    this.#version += 1;
    if (spec === undefined) this.#specs.delete(name);
    else this.#specs.set(name, spec);
  }

  async request({ method, path, body }: ApiRequest): Promise<ApiResponse> {
    const { metadata, spec } = asRecord(body);
    const { pathname, searchParams } = new URL(path, 'https://server');
    const { name = pathname.slice(pathname.lastIndexOf('/') + 1), resourceVersion } = asRecord(metadata);
    const stored = this.#specs.get(asString(name));
    if (method === 'GET' && stored === undefined) throw rejected(404);
    if (method !== 'GET') {
      if (method === 'POST' ? stored !== undefined : resourceVersion !== `${this.#version}`) throw rejected(409);
      if (!searchParams.has('dryRun')) this.write(asString(name), asRecord(spec));
    }
    return {
      ...{ status: 200, headers: { date: new Date(this.#now()).toUTCString() } },
      body: {
        metadata: { namespace: namespaceOf(pathname), name, uid: 'u', resourceVersion: `${this.#version}` },
        spec: this.#specs.get(asString(name)),
      },
    };
  }
}

const namespaceOf = (path: string): string => /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '';
