import { asRecord, asString, type Clock, sleep } from '@sluice/platform';
import { type ClusterReader, type Connection, type HttpCluster, isApiError } from '../index.ts';
import { reviewAccess } from './access-review.ts';
import type { Access } from './permissions.ts';
import { getServerVersion, type ServerVersion } from './server-version.ts';

interface ControllerProbe {
  readonly connection: Pick<Connection, 'request'>;
  /** Sluice's name in `managedFields`. */
  readonly ownManager: string;
  /** Namespace of the throw-away Service. */
  readonly namespace: string;
  /** Name of the throw-away Service, unique for each probe; others have it as prefix. */
  readonly name: string;
  readonly clock: Clock;
  /** How long to wait for a controller, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
}

const pollMs = 500;

/**
 * Creates a Service without Pods and one with custom Endpoints, waits for another controller to write Endpoints or
 * EndpointSlices for them, and deletes everything. Returns the manager and object of the write, or undefined if nobody wrote.
 *
 * @throws ApiError if a request is rejected
 */
export async function probeControllers(probe: ControllerProbe, signal: AbortSignal): Promise<string | undefined> {
  const { connection, clock, waitMs = 15_000 } = probe;
  const created: string[] = [];
  try {
    for (const { collection, object } of throwAwayObjects(probe)) {
      await connection.request({ method: 'POST', path: collection, body: object, signal });
      created.unshift(`${collection}/${object.metadata.name}`);
    }
    const deadline = clock.monotonic() + waitMs;
    while (clock.monotonic() < deadline && !signal.aborted) {
      const found = await foreignObject(probe, signal);
      if (found !== undefined) return found;
      await sleep(clock, pollMs, signal);
    }
    return undefined;
  } finally {
    await deleteAll(connection, created);
  }
}

const mirroredName = (name: string): string => `${name}-mirrored`;

/** In the order of their creation: Endpoints are mirrored only if their Service has no selector. */
function throwAwayObjects({ namespace, name }: ControllerProbe) {
  const services = `/api/v1/namespaces/${namespace}/services`;
  const endpoints = `/api/v1/namespaces/${namespace}/endpoints`;
  const mirrored = { name: mirroredName(name), namespace };
  const spec = { clusterIP: 'None', ports: [{ port: 1 }] };
  // Endpoints get an empty object and EndpointSlices a placeholder, also for a selector that matches no Pod.
  const selecting = { ...spec, selector: { 'sluice.io/probe': name } };
  // An address for documentation, RFC 5737.
  const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1 }] }];
  return [
    {
      collection: services,
      object: { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: selecting },
    },
    { collection: services, object: { apiVersion: 'v1', kind: 'Service', metadata: mirrored, spec } },
    { collection: endpoints, object: { apiVersion: 'v1', kind: 'Endpoints', metadata: mirrored, subsets } },
  ];
}

/** Attempts every deletion. Endpoints may be gone, because their controller deletes them with their Service. */
async function deleteAll(connection: ControllerProbe['connection'], paths: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const results = await Promise.allSettled(paths.map((path) => connection.request({ method: 'DELETE', path, signal })));
  for (const result of results) {
    if (result.status === 'fulfilled' || (isApiError(result.reason) && result.reason.status === 404)) continue;
    throw result.reason;
  }
}

async function foreignObject(
  { connection, ownManager, namespace, name }: ControllerProbe,
  signal: AbortSignal,
): Promise<string | undefined> {
  const selector = new URLSearchParams({
    labelSelector: `kubernetes.io/service-name in (${name},${mirroredName(name)})`,
  });
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${selector}`;
  const found = [
    ...(await objectsAt(connection, slices, signal)),
    ...(await objectsAt(connection, `/api/v1/namespaces/${namespace}/endpoints/${name}`, signal)),
  ];
  for (const object of found) {
    const { kind, metadata } = asRecord(object);
    const { name: objectName, managedFields } = asRecord(metadata);
    const managers = (Array.isArray(managedFields) ? managedFields : []).map((entry) =>
      asString(asRecord(entry).manager),
    );
    const foreign = managers.find((manager) => manager !== ownManager);
    const what = `${asString(kind) || 'EndpointSlice'} ${namespace}/${asString(objectName)}`;
    if (foreign !== undefined) return `${foreign} wrote ${what}`;
    if (managers.length === 0) return `an unknown manager wrote ${what}`;
  }
  return undefined;
}

/** The items of a list, or the one object; none if there is no such object. */
async function objectsAt(
  connection: Pick<Connection, 'request'>,
  path: string,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    const { body } = await connection.request({ method: 'GET', path, signal });
    const { kind, items } = asRecord(body);
    if (asString(kind).endsWith('List')) return Array.isArray(items) ? items : [];
    return [body];
  } catch (error) {
    if (isApiError(error) && error.status === 404) return [];
    throw error;
  }
}

/** The requests that preflight checks send to a cluster. */
export interface ClusterProbe extends Pick<ClusterReader, 'identity' | 'list'> {
  serverVersion(signal: AbortSignal): Promise<ServerVersion>;
  /** Whether each access is allowed, in the order of `accesses`. */
  reviewAccess(accesses: readonly Access[], signal: AbortSignal): Promise<readonly boolean[]>;
  /** Name of this client's user; undefined if the server does not tell, which needs Kubernetes 1.28. Never rejects. */
  userName?(signal: AbortSignal): Promise<string | undefined>;
}

export function clusterProbe(cluster: HttpCluster): ClusterProbe {
  const { connection } = cluster;
  return {
    identity: (signal) => cluster.identity(signal),
    list: (resource, options, signal) => cluster.list(resource, options, signal),
    serverVersion: (signal) => getServerVersion(connection, signal),
    reviewAccess: (accesses, signal) => reviewAccess(connection, accesses, signal),
    userName: (signal) => userName(connection, signal).catch(() => undefined),
  };
}

async function userName(connection: HttpCluster['connection'], signal: AbortSignal): Promise<string | undefined> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { body } = await connection.request({ method: 'POST', path, body: review, signal });
  return asString(asRecord(asRecord(asRecord(body).status).userInfo).username) || undefined;
}
