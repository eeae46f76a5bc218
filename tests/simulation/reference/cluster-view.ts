import type { FakeApiServer, ResourceName, StoredObject } from '@sluice/fake-apiserver';

const inputResources: readonly ResourceName[] = ['services', 'pods', 'nodes', 'endpoints'];
const resources: readonly ResourceName[] = [...inputResources, 'endpointslices'];

const hasClusterIp = ({ spec }: StoredObject): boolean => {
  const { clusterIP = '' } = (spec ?? {}) as { readonly clusterIP?: string };
  return clusterIP !== '' && clusterIP !== 'None';
};

/** All objects of a cluster that matter to endpoints, kept current with every commit of its API server. */
export class ClusterView {
  /** Increases with every change of what is computed from. */
  inputs = 0;
  /** Increases with every change of what is written. */
  outputs = 0;
  readonly #server: FakeApiServer;
  readonly #changedClusterIp = new Set<string>();
  readonly #objects = new Map<ResourceName, Map<string, StoredObject>>();

  constructor(server: FakeApiServer) {
    this.#server = server;
    this.reload();
    server.onCommit((resource, { type, object }) => {
      const objects = this.#objects.get(resource);
      if (objects === undefined) return;
      const { namespace = '', name } = object.metadata;
      if (resource === 'services') this.#observeClusterIp(objects.get(`${namespace}/${name}`), object);
      if (type === 'DELETED') objects.delete(`${namespace}/${name}`);
      else objects.set(`${namespace}/${name}`, object);
      this.#count(resource);
    });
  }

  /** Reads everything again, after the server was restored from a backup. */
  reload(): void {
    for (const resource of resources) {
      const items = this.#server.list(resource).items;
      this.#objects.set(
        resource,
        new Map(items.map((item) => [`${item.metadata.namespace ?? ''}/${item.metadata.name}`, item])),
      );
      this.#count(resource);
    }
  }

  all(resource: ResourceName): readonly StoredObject[] {
    return [...(this.#objects.get(resource)?.values() ?? [])];
  }

  get(resource: ResourceName, namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(resource)?.get(`${namespace}/${name}`);
  }

  /** Whether the Service has got, or lost, its cluster IP. */
  hasChangedClusterIp(uid: string): boolean {
    return this.#changedClusterIp.has(uid);
  }

  #observeClusterIp(before: StoredObject | undefined, after: StoredObject): void {
    if (before?.metadata.uid === after.metadata.uid && hasClusterIp(before) !== hasClusterIp(after))
      this.#changedClusterIp.add(after.metadata.uid);
  }

  #count(resource: ResourceName): void {
    if (inputResources.includes(resource)) this.inputs += 1;
    if (resource === 'endpointslices' || resource === 'endpoints') this.outputs += 1;
  }
}
