import type { Change, Fact, Message, ServiceKey } from '@sluice/messages';
import type { Endpoint, EndpointSlice, Service } from '@sluice/model';
import { aService, aSlice } from '@sluice/model/testing';

/** A Pod in the slices of a Service. */
export interface TestEndpoint {
  readonly pod: string;
  readonly zone: string;
  readonly ready: boolean;
}

/** The objects of a Service in one cluster. */
export interface TestService {
  readonly service: Service | null;
  readonly slices: ReadonlyMap<string, readonly TestEndpoint[]>;
}

const versions = { endpoints: '100', endpointslices: '100' };

/** What the watcher of one cluster publishes. */
export class ClusterLog {
  readonly cluster: string;
  epoch = 1;
  #sequence = 0;
  #resourceVersion = 0;
  /** UIDs of the slices that exist, by Service and name. */
  readonly #uids = new Map<string, string>();
  readonly records: { readonly key: string; readonly message: Message }[] = [];

  constructor(cluster: string) {
    this.cluster = cluster;
  }

  /** All that exists of a Service. */
  snapshot(name: string, { service, slices }: TestService): void {
    const facts: Fact[] = [{ kind: 'service', service }];
    for (const [slice, endpoints] of slices) facts.push(this.#slice(name, slice, endpoints));
    const snapshot = { first: true, last: true, initial: false, resourceVersions: versions };
    this.#publish(name, facts, { snapshot });
  }

  service(name: string, service: Service | null): void {
    this.#publish(name, [{ kind: 'service', service }]);
  }

  slice(name: string, slice: string, endpoints: readonly TestEndpoint[] | null): void {
    if (endpoints !== null) {
      this.#publish(name, [this.#slice(name, slice, endpoints)]);
      return;
    }
    const uid = this.#uids.get(`${name}/${slice}`) ?? 'unknown';
    this.#uids.delete(`${name}/${slice}`);
    this.#publish(name, [{ kind: 'slice', name: slice, slice: null, uid }]);
  }

  /** The fleet removes the cluster, and a watcher with a later epoch may add it again. */
  remove(): void {
    this.records.push({
      key: this.cluster,
      message: { kind: 'clusterRemoved', cluster: this.cluster, epoch: this.epoch },
    });
    this.epoch++;
  }

  #slice(service: string, name: string, endpoints: readonly TestEndpoint[]): Fact {
    const resourceVersion = String(++this.#resourceVersion);
    const uid = this.#uids.get(`${service}/${name}`) ?? `uid-${resourceVersion}`;
    this.#uids.set(`${service}/${name}`, uid);
    const slice: EndpointSlice = aSlice(name, { endpoints: endpoints.map(toEndpoint) });
    return { kind: 'slice', name, slice: { ...slice, metadata: { ...slice.metadata, resourceVersion, uid } }, uid };
  }

  #publish(service: string, facts: readonly Fact[], given: Partial<Change> = {}): void {
    const key: ServiceKey = { cluster: this.cluster, namespace: 'shop', service };
    const stamp = { epoch: this.epoch, sequence: ++this.#sequence };
    const causes = { first: [{ description: 'test', observedAt: this.#sequence }], more: 0 };
    const message: Change = { kind: 'change', key, stamp, facts, resourceVersions: versions, causes, ...given };
    this.records.push({ key: `${this.cluster}/shop/${service}`, message });
  }
}

const toEndpoint = ({ pod, zone, ready }: TestEndpoint): Endpoint => ({
  addresses: [`10.0.0.${pod.length}`],
  conditions: { ready, serving: ready, terminating: false },
  targetRef: { kind: 'Pod', namespace: 'shop', name: pod },
  zone,
});

export const endpoint = (pod: string, ready = true, zone = 'a'): TestEndpoint => ({ pod, ready, zone });

/** A Service with these Pods in one slice. */
export const served = (pods: readonly TestEndpoint[], given: Partial<Service> = {}): TestService => ({
  service: aService(given),
  slices: new Map([['web-1', pods]]),
});
