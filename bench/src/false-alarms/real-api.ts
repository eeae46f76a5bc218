import { setTimeout as sleep } from 'node:timers/promises';
import type { RawObject } from '@sluice/kubernetes';
import type { ApiClient } from '../api-client.ts';
import type { ClusterApi, LoadedResource } from './cluster-api.ts';

const retryMs = 500;
/** Longer than any pause of the API server that the load makes. */
const attempts = 120;

/** Writes to a real API server, also if it does not answer for a while. */
export class RealApi implements ClusterApi {
  readonly #client: ApiClient;
  /** The last write of each object. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #created = new Set<string>();
  #isStopped = false;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  put(resource: LoadedResource, object: RawObject): void {
    const { name, namespace = '' } = object.metadata as { readonly name: string; readonly namespace?: string };
    const path = pathOf(resource, namespace);
    const body = { apiVersion: 'v1', kind: kinds[resource], ...object };
    this.#write(`${path}/${name}`, async () => {
      if (!this.#created.has(`${path}/${name}`)) await this.#send(() => this.#client.post(path, body));
      else if (resource !== 'pods') await this.#send(() => this.#client.put(`${path}/${name}`, body));
      this.#created.add(`${path}/${name}`);
      if (resource === 'pods' || resource === 'nodes')
        await this.#send(() => this.#client.put(`${path}/${name}/status`, body));
    });
  }

  remove(resource: LoadedResource, namespace: string, name: string, isFinal = false): void {
    const path = `${pathOf(resource, namespace)}/${name}`;
    this.#write(path, async () => {
      await this.#send(() => this.#client.delete(`${path}${isFinal ? '?gracePeriodSeconds=0' : ''}`));
      if (resource === 'services') await this.#removeSlices(namespace, name);
      if (isFinal || resource !== 'pods') this.#created.delete(path);
    });
  }

  /** Nothing is written any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#last.values());
  }

  /** As the garbage collector of a whole kube-controller-manager does. */
  async #removeSlices(namespace: string, service: string): Promise<void> {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const selector = `labelSelector=kubernetes.io%2Fservice-name%3D${service}`;
    let names: readonly string[] = [];
    await this.#send(async () => {
      const { items } = JSON.parse((await this.#client.get(`${path}?${selector}`)).body) as SliceList;
      names = items.map(({ metadata }) => metadata.name);
    });
    for (const name of names) await this.#send(() => this.#client.delete(`${path}/${name}`));
  }

  #write(object: string, run: () => Promise<void>): void {
    const last = (this.#last.get(object) ?? Promise.resolve()).then(run).finally(() => {
      if (this.#last.get(object) === last) this.#last.delete(object);
    });
    this.#last.set(object, last);
  }

  /** An object that exists already or no longer is as it should be, as is one in a namespace that is being deleted. */
  async #send(request: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; !this.#isStopped; attempt++) {
      try {
        await request();
        return;
      } catch (error) {
        const status = /: status (\d+):/.exec(String(error))?.[1];
        if (status === '404' || status === '409' || status === '403') return;
        if (attempt === attempts || (status?.startsWith('4') && status !== '429')) throw error;
        await sleep(retryMs);
      }
    }
  }
}

interface SliceList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const kinds: Readonly<Record<LoadedResource, string>> = {
  endpoints: 'Endpoints',
  namespaces: 'Namespace',
  nodes: 'Node',
  pods: 'Pod',
  services: 'Service',
};

const pathOf = (resource: LoadedResource, namespace: string): string =>
  namespace === '' ? `/api/v1/${resource}` : `/api/v1/namespaces/${namespace}/${resource}`;
