import { type Connection, isApiError } from '@sluice/kubernetes';
import type { ServiceKey } from '@sluice/messages';
import { serviceNameLabel } from '@sluice/model';
import { isObject, type JsonObject, listAt } from './comparison/json.ts';
import type { ClusterState } from './comparison/normalise.ts';

/** Room for all EndpointSlices of the largest Service. */
const maxResponseBytes = 64 * 1024 * 1024;

/** Reads from the API server, bypassing all caches, a Service with its Endpoints and EndpointSlices. Throws ApiError. */
export async function readCurrentState(
  connection: Pick<Connection, 'request'>,
  { namespace, service }: ServiceKey,
  signal: AbortSignal,
): Promise<ClusterState> {
  const within = `namespaces/${encodeURIComponent(namespace)}`;
  const name = encodeURIComponent(service);
  const get = async (path: string): Promise<JsonObject> => {
    const { body } = await connection.request({ method: 'GET', path, signal, maxResponseBytes });
    return isObject(body) ? body : {};
  };
  const find = (path: string) => get(path).then((object) => [object], noneIfMissing);
  const selector = new URLSearchParams({ labelSelector: `${serviceNameLabel}=${service}` });
  const [services, endpoints, slices] = await Promise.all([
    find(`/api/v1/${within}/services/${name}`),
    find(`/api/v1/${within}/endpoints/${name}`),
    get(`/apis/discovery.k8s.io/v1/${within}/endpointslices?${selector}`),
  ]);
  return { services, pods: [], endpoints, endpointslices: listAt(slices, 'items').filter(isObject) };
}

function noneIfMissing(error: unknown): JsonObject[] {
  if (isApiError(error) && error.status === 404) return [];
  throw error;
}
