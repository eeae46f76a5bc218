import { asRecord, asString, type JsonRecord } from '@sluice/platform';
import { isApiError } from './api-error.ts';
import type { ApiResponse, Connection } from './connection.ts';
import { requestedObject } from './requested-object.ts';
import type { RequestedObject } from './status.ts';

/** What a Lease says about its holder. Times are in milliseconds since the Unix epoch. */
export interface LeaseRecord {
  /** Empty: nobody. */
  readonly holder: string;
  readonly renewedAt: number;
  /** Undefined if the Lease states none. */
  readonly durationMs: number | undefined;
  readonly acquireTime: string;
  /** The holder has given it up itself. */
  readonly isReleased: boolean;
  /** `metadata.uid` of the Lease. */
  readonly uid: string;
}

export interface LeasePath {
  readonly collection: string;
  readonly lease: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: RequestedObject;
}

export function leasePath(namespace: string, name: string): LeasePath {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const object = { resource: 'leases', name };
  return { collection, lease: `${collection}/${encodeURIComponent(name)}`, namespace, name, object };
}

/** What client-go's leader election writes when it releases a Lease. */
const releasedSeconds = 1;

/** Longer than any name of a holder. What another client wrote goes into messages. */
const longestHolder = 512;

export function leaseRecord(lease: JsonRecord): LeaseRecord {
  const { holderIdentity, acquireTime, renewTime, leaseDurationSeconds } = asRecord(lease.spec);
  const holder = asString(holderIdentity).slice(0, longestHolder);
  return {
    holder,
    renewedAt: Date.parse(asString(renewTime)) || 0,
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : undefined,
    acquireTime: asString(acquireTime),
    isReleased: holder === '' && leaseDurationSeconds === releasedSeconds,
    uid: asString(asRecord(lease.metadata).uid),
  };
}

interface Renewal {
  readonly holder: string;
  readonly durationMs: number;
  readonly now: number;
}

/** The Lease, acquired or renewed by `holder`. */
export function renewed(lease: JsonRecord, { holder, durationMs, now }: Renewal): JsonRecord {
  const spec = asRecord(lease.spec);
  const { holderIdentity, acquireTime, leaseTransitions } = spec;
  const transitions = typeof leaseTransitions === 'number' ? leaseTransitions : 0;
  const acquisition =
    asString(holderIdentity) === holder
      ? { acquireTime, leaseTransitions: transitions }
      : { acquireTime: microTime(now), leaseTransitions: transitions + 1 };
  const renewal = { holderIdentity: holder, leaseDurationSeconds: durationMs / 1000, renewTime: microTime(now) };
  return { ...lease, spec: { ...spec, ...renewal, ...acquisition } };
}

/** The Lease without a holder, as client-go's leader election releases it. */
function released(lease: JsonRecord): JsonRecord {
  return { ...lease, spec: { ...asRecord(lease.spec), holderIdentity: '', leaseDurationSeconds: releasedSeconds } };
}

export function newLease({ namespace, name }: LeasePath): JsonRecord {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

export interface LeaseRequest {
  readonly signal: AbortSignal;
  /** Default: the time limit of the connection. */
  readonly timeoutMs?: number;
}

/** Reads and writes one Lease. Every request throws ApiError. */
export class LeaseClient {
  readonly path: LeasePath;
  readonly #connection: Pick<Connection, 'request' | 'server'>;

  constructor(connection: Pick<Connection, 'request' | 'server'>, path: LeasePath) {
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
      return { lease: this.#requested(answer), serverTime: dateOf(answer) };
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
    return this.#requested(await this.#connection.request({ ...target, body, ...request }));
  }

  /** Another object, or none, would read as a Lease that nobody holds. */
  #requested({ body }: ApiResponse): JsonRecord {
    const { namespace, name } = this.path;
    return requestedObject(this.#connection.server, body, { kind: 'Lease', namespace, name });
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
