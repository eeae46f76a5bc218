import { apiGroup, type ClusterReader, type Connection, type Resource, resourcesOfReader } from '@sluice/kubernetes';
import type { ServiceKey } from '@sluice/messages';
import { serviceNameLabel } from '@sluice/model';
import { isObject, type JsonObject, listAt } from './comparison/json.ts';
import type { ClusterState } from './comparison/normalise.ts';

/** Room for all EndpointSlices of the largest Service. */
const maxResponseBytes = 64 * 1024 * 1024;

interface ReadCluster {
  readonly connection: Pick<Connection, 'request'>;
  readonly reader: Pick<ClusterReader, 'resources'>;
}

/**
 * Reads from the API server, bypassing all caches, a Service with its Endpoints and EndpointSlices, as far as they are watched.
 * A watcher may list objects, but not get them. Throws ApiError.
 */
export async function readCurrentState(
  { connection, reader }: ReadCluster,
  { namespace, service }: ServiceKey,
  signal: AbortSignal,
): Promise<ClusterState> {
  const watched = resourcesOfReader(reader);
  const list = async (resource: Resource, selector: Readonly<Record<string, string>>): Promise<JsonObject[]> => {
    if (!watched.includes(resource)) return [];
    const group = apiGroup(resource);
    const api = group === '' ? '/api/v1' : `/apis/${group}/v1`;
    const path = `${api}/namespaces/${encodeURIComponent(namespace)}/${resource}?${new URLSearchParams(selector)}`;
    const { body } = await connection.request({ method: 'GET', path, signal, maxResponseBytes });
    return isObject(body) ? listAt(body, 'items').filter(isObject) : [];
  };
  const named = { fieldSelector: `metadata.name=${service}` };
  const [services, endpoints, endpointslices] = await Promise.all([
    list('services', named),
    list('endpoints', named),
    list('endpointslices', { labelSelector: `${serviceNameLabel}=${service}` }),
  ]);
  return { services, pods: [], endpoints, endpointslices };
}
