import { type ApiRequest, Connection, isApiError, loadKubeconfig } from '@sluice/kubernetes';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { type ClusterState, isObject, type JsonObject, listAt, textAt } from '@sluice/shadow';

export type Resource = 'namespaces' | 'nodes' | 'services' | 'pods' | 'endpoints' | 'endpointslices';

/** Identifies one object. */
export interface Reference {
  readonly resource: Resource;
  /** Omitted for Namespaces and Nodes. */
  readonly namespace?: string;
  readonly name: string;
}

/** A user of a cluster, which writes test objects and reads the result. Failures are ApiErrors. */
export class ApiClient {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async open(kubeconfig: string): Promise<ApiClient> {
    const access = await loadKubeconfig({ paths: [kubeconfig] });
    return new ApiClient(
      new Connection({
        access,
        userAgent: 'sluice-differential',
        clock: systemClock,
        logger: silentLogger,
        maxConnections: 8,
      }),
    );
  }

  async list(resource: Resource): Promise<readonly JsonObject[]> {
    const answer = await this.#send('GET', pathOf({ resource }));
    return listAt(answer, 'items').filter(isObject);
  }

  get(reference: Reference): Promise<JsonObject> {
    return this.#send('GET', pathOf(reference));
  }

  /** Returns undefined if the object does not exist. */
  async find(reference: Reference): Promise<JsonObject | undefined> {
    try {
      return await this.get(reference);
    } catch (error) {
      if (isApiError(error) && error.status === 404) return undefined;
      throw error;
    }
  }

  create(resource: Resource, object: JsonObject): Promise<JsonObject> {
    const namespace = textAt(object.metadata, 'namespace');
    return this.#send('POST', pathOf({ resource, ...(namespace !== '' && { namespace }) }), object);
  }

  /** Applies a JSON merge patch (RFC 7386) to the object, or only to its status. */
  patch(reference: Reference, change: JsonObject, subresource?: 'status'): Promise<JsonObject> {
    const path = subresource === undefined ? pathOf(reference) : `${pathOf(reference)}/${subresource}`;
    return this.#send('PATCH', path, change, { 'content-type': 'application/merge-patch+json' });
  }

  /** Deletes immediately, or marks a Pod on a Node as terminating for the grace period. */
  async delete(reference: Reference, gracePeriodSeconds = 0): Promise<void> {
    await this.#send('DELETE', pathOf(reference), { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds });
  }

  async state(): Promise<ClusterState> {
    const [services, pods, endpoints, endpointslices] = await Promise.all([
      this.list('services'),
      this.list('pods'),
      this.list('endpoints'),
      this.list('endpointslices'),
    ]);
    return { services, pods, endpoints, endpointslices };
  }

  async close(): Promise<void> {
    await this.#connection.destroy();
  }

  async #send(
    method: ApiRequest['method'],
    path: string,
    body?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonObject> {
    const signal = AbortSignal.timeout(30_000);
    const answer = await this.#connection.request({ method, path, headers, signal, ...(body && { body }) });
    return isObject(answer.body) ? answer.body : {};
  }
}

function pathOf({ resource, namespace, name }: Partial<Reference> & Pick<Reference, 'resource'>): string {
  const group = resource === 'endpointslices' ? '/apis/discovery.k8s.io/v1' : '/api/v1';
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${group}${scope}/${resource}${name === undefined ? '' : `/${name}`}`;
}
