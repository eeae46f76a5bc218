import { type Message, parseServiceKey } from '@sluice/messages';
import type { EndpointSlice, Endpoints } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import { type FieldChange, type PodEntry, type ServiceState, ServiceStates } from '@sluice/service-state';
import { type RawObject, rawNode, rawPod, rawService } from './raw-objects.ts';

export type RecordedResource = 'namespaces' | 'nodes' | 'services' | 'pods' | 'endpointslices' | 'endpoints';

/** An object of a cluster is now like this, or, if null, does not exist any more. */
export interface ObjectChange {
  /** Identity of the cluster. */
  readonly cluster: string;
  readonly resource: RecordedResource;
  /** Empty for objects without one. */
  readonly namespace: string;
  readonly name: string;
  readonly object: RawObject | null;
}

type ShownPod = PodEntry & { readonly terminatingSince: number };

/** Which Services have an object, and how each of them knows it. */
type Known<T> = Map<string, Map<string, T>>;

/** The Kubernetes objects of a recording, as its messages change them. */
export class RecordedObjects {
  readonly #states = new ServiceStates();
  /** By CLUSTER/NAMESPACE/NAME; the last one of each is the newest. A Pod can belong to several Services, a slice move between two. */
  readonly #pods: Known<ShownPod> = new Map();
  readonly #slices: Known<EndpointSlice> = new Map();
  readonly #namespaces = new Set<string>();
  /** Zones, by CLUSTER/NAME. */
  readonly #nodes = new Map<string, string>();

  /** Applies a message that was received at `at`. `key`: formatted key of the Service, or of the cluster that was removed. */
  apply(key: string, message: Message, at: number): readonly ObjectChange[] {
    if (message.kind === 'clusterRemoved') {
      return this.services.filter((one) => one.startsWith(`${message.cluster}/`)).flatMap((one) => this.remove(one));
    }
    const applied = this.#states.apply(key, message, at);
    return applied?.changes.flatMap((change) => this.#changesOf(key, applied.state, change, at)) ?? [];
  }

  /** Formatted keys of the Services that have objects. */
  get services(): readonly string[] {
    return this.#states.keys;
  }

  /** Removes what belongs to one Service alone. */
  remove(key: string): readonly ObjectChange[] {
    const state = this.#states.remove(key);
    if (state === undefined) return [];
    return [
      this.#ofService(key, 'services', null),
      this.#ofService(key, 'endpoints', null),
      ...[...state.pods.keys()].map((name) => this.#podChange(key, name, undefined)),
      ...[...state.slices.keys()].map((name) => this.#sliceChange(key, name, undefined)),
    ];
  }

  #changesOf(key: string, state: ServiceState, change: FieldChange, at: number): readonly ObjectChange[] {
    switch (change.kind) {
      case 'service': {
        const service = change.after?.service ?? null;
        const own = this.#ofService(key, 'services', service && rawService(service));
        // Their labels follow from the selector.
        const pods = [...state.pods.keys()].map((name) => this.#shownPod(key, name));
        return [...this.#namespaceOf(key), own, ...pods];
      }
      case 'endpoints':
        return [this.#ofService(key, 'endpoints', change.after?.endpoints ?? null)];
      case 'slice':
        return [this.#sliceChange(key, change.name, change.after?.slice)];
      case 'pod': {
        const { name, before, after } = change;
        const nodes = after === undefined ? [] : this.#nodeOf(key, after);
        const known = before && this.#pods.get(objectKey(key, name))?.get(key);
        const terminatingSince = before?.pod.terminating ? (known?.terminatingSince ?? at) : at;
        return [
          ...this.#namespaceOf(key),
          ...nodes,
          this.#podChange(key, name, after && { ...after, terminatingSince }),
        ];
      }
      default:
        return [];
    }
  }

  #ofService(key: string, resource: RecordedResource, object: RawObject | Endpoints | null): ObjectChange {
    const { cluster, namespace, service } = parseServiceKey(key);
    return { cluster, resource, namespace, name: service, object: object as RawObject | null };
  }

  #podChange(key: string, name: string, pod: ShownPod | undefined): ObjectChange {
    know(this.#pods, objectKey(key, name), key, pod);
    return this.#shownPod(key, name);
  }

  #shownPod(key: string, name: string): ObjectChange {
    const { cluster, namespace } = parseServiceKey(key);
    const known = this.#pods.get(objectKey(key, name));
    const newest = known && [...known.values()].at(-1);
    const selectors = [...(known?.keys() ?? [])].map((one) => this.#states.get(one)?.service?.service?.selector);
    const labels = Object.assign({}, ...selectors);
    const object = newest === undefined ? null : rawPod(newest.pod, { ...newest, labels });
    return { cluster, resource: 'pods', namespace, name, object };
  }

  #sliceChange(key: string, name: string, slice: EndpointSlice | undefined): ObjectChange {
    const { cluster, namespace } = parseServiceKey(key);
    const known = know(this.#slices, objectKey(key, name), key, slice);
    const newest = [...known.values()].at(-1) ?? null;
    return { cluster, resource: 'endpointslices', namespace, name, object: newest as RawObject | null };
  }

  #namespaceOf(key: string): readonly ObjectChange[] {
    const { cluster, namespace } = parseServiceKey(key);
    if (this.#namespaces.has(`${cluster}/${namespace}`)) return [];
    this.#namespaces.add(`${cluster}/${namespace}`);
    const object = { metadata: { name: namespace }, status: { phase: 'Active' } };
    return [{ cluster, resource: 'namespaces', namespace: '', name: namespace, object }];
  }

  #nodeOf(key: string, { pod: { nodeName: name }, node }: PodEntry): readonly ObjectChange[] {
    const { cluster } = parseServiceKey(key);
    if (node === null || name === '' || this.#nodes.get(`${cluster}/${name}`) === node.zone) return [];
    this.#nodes.set(`${cluster}/${name}`, node.zone);
    return [{ cluster, resource: 'nodes', namespace: '', name, object: rawNode(name, node.zone) }];
  }
}

function objectKey(serviceKey: string, name: string): string {
  const { cluster, namespace } = parseServiceKey(serviceKey);
  return `${cluster}/${namespace}/${name}`;
}

function know<T>(known: Known<T>, id: string, service: string, object: T | undefined): ReadonlyMap<string, T> {
  const services = getOrCreate(known, id, () => new Map<string, T>());
  services.delete(service);
  if (object !== undefined) services.set(service, object);
  if (services.size === 0) known.delete(id);
  return services;
}
