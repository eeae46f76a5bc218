import { type Connection, isApiError } from '@sluice/kubernetes';
import { asRecord, asString, type Clock, sleep } from '@sluice/runtime';

export interface ControllerProbe {
  readonly connection: Pick<Connection, 'request'>;
  /** Sluice's name in `managedFields`. */
  readonly ownManager: string;
  /** Namespace of the throw-away Service. */
  readonly namespace: string;
  /** Name of the throw-away Service, unique for each probe. */
  readonly name: string;
  readonly clock: Clock;
  /** How long to wait for a controller, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
}

const pollMs = 500;

/**
 * Creates a Service without Pods, waits for another controller to write its Endpoints or EndpointSlices, and deletes it.
 * Returns the manager and object of the write, or undefined if nobody wrote.
 *
 * @throws ApiError if a request is rejected
 */
export async function probeControllers(probe: ControllerProbe, signal: AbortSignal): Promise<string | undefined> {
  const { connection, namespace, name, clock, waitMs = 15_000 } = probe;
  const services = `/api/v1/namespaces/${namespace}/services`;
  const service = {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } },
    // Endpoints get an empty object and EndpointSlices a placeholder, also for a selector that matches no Pod.
    spec: { clusterIP: 'None', selector: { 'sluice.io/probe': name }, ports: [{ port: 1 }] },
  };
  await connection.request({ method: 'POST', path: services, body: service, signal });
  try {
    const deadline = clock.monotonic() + waitMs;
    while (clock.monotonic() < deadline && !signal.aborted) {
      const found = await foreignObject(probe, signal);
      if (found !== undefined) return found;
      await sleep(clock, pollMs, signal);
    }
    return undefined;
  } finally {
    await connection.request({ method: 'DELETE', path: `${services}/${name}`, signal: AbortSignal.timeout(10_000) });
  }
}

async function foreignObject(
  { connection, ownManager, namespace, name }: ControllerProbe,
  signal: AbortSignal,
): Promise<string | undefined> {
  const selector = new URLSearchParams({ labelSelector: `kubernetes.io/service-name=${name}` });
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
