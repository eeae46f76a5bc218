import { asRecord, type JsonRecord } from '@sluice/platform';
import { isApiError } from './api-error.ts';
import type { ApiResponse, Connection } from './connection.ts';
import { type LeasePath, type LeaseRecord, leaseRecord, released } from './lease.ts';

export interface LeaseRequest {
  readonly signal: AbortSignal;
  /** Default: the time limit of the connection. */
  readonly timeoutMs?: number;
}

/** Reads and writes one Lease. Every request throws ApiError. */
export class LeaseClient {
  readonly path: LeasePath;
  readonly #connection: Pick<Connection, 'request'>;

  constructor(connection: Pick<Connection, 'request'>, path: LeasePath) {
    this.#connection = connection;
    this.path = path;
  }

  /** For messages. */
  get name(): string {
    return `${this.path.namespace}/${this.path.name}`;
  }

  /** The Lease, or undefined if there is none, and the API server's time. */
  async read(
    request: LeaseRequest,
  ): Promise<{ readonly lease: JsonRecord; readonly serverTime: number | undefined } | undefined> {
    const { lease: path, object } = this.path;
    try {
      const answer = await this.#connection.request({ method: 'GET', path, object, ...request });
      return { lease: asRecord(answer.body), serverTime: dateOf(answer) };
    } catch (error) {
      if (isApiError(error) && error.kind === 'notFound') return undefined;
      throw error;
    }
  }

  /** Creates the Lease if it has no uid, and updates it otherwise. Returns what the API server stores. */
  async write(body: JsonRecord, request: LeaseRequest, { dryRun = false } = {}): Promise<JsonRecord> {
    const query = dryRun ? '?dryRun=All' : '';
    const target =
      leaseRecord(body).uid === ''
        ? { method: 'POST' as const, path: this.path.collection + query }
        : { method: 'PUT' as const, path: this.path.lease + query };
    return asRecord((await this.#connection.request({ ...target, body, ...request })).body);
  }

  /** Gives the Lease up if this process still holds it, so that the next holder need not wait for its expiry. */
  async release(isOwn: (lease: LeaseRecord) => boolean, timeoutMs: number): Promise<void> {
    const request = { signal: new AbortController().signal, timeoutMs: timeoutMs / 2 };
    const found = await this.read(request);
    if (found !== undefined && isOwn(leaseRecord(found.lease))) await this.write(released(found.lease), request);
  }
}

/** When the server answered, by its `Date` header; a second is its resolution. */
export function dateOf({ headers }: ApiResponse): number | undefined {
  const at = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
