import { isDeepStrictEqual } from 'node:util';
import { selectorMatches } from '@sluice/controllers';
import {
  type projectEndpointSlice,
  type projectEndpoints,
  type projectPod,
  type Service,
  serviceNameLabel,
} from '@sluice/model';

export type IndexedPod = ReturnType<typeof projectPod>;
export type Slice = ReturnType<typeof projectEndpointSlice>;
export type Endpoints = ReturnType<typeof projectEndpoints>;

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

/**
 * What the informers delivered, with the Pods and slices of each Service at hand. A change returns the keys of the Services that it
 * affects; one that changes nothing that matters, and the watch echo of an own write, returns none.
 */
export class ClusterIndex {
  readonly #services = new Map<string, Map<string, Service>>();
  readonly #pods = new Map<string, Map<string, IndexedPod>>();
  readonly #podsOf = new Map<string, Map<string, IndexedPod>>();
  readonly #slicesOf = new Map<string, Map<string, Slice>>();
  readonly #endpoints = new Map<string, Endpoints>();

  service(key: string): Service | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.#services.get(namespace)?.get(name);
  }

  podsOf(key: string): Iterable<IndexedPod> {
    return this.#podsOf.get(key)?.values() ?? [];
  }

  slicesOf(key: string): readonly Slice[] {
    return [...(this.#slicesOf.get(key)?.values() ?? [])];
  }

  endpointsOf(key: string): Endpoints | null {
    return this.#endpoints.get(key) ?? null;
  }

  get serviceKeys(): readonly string[] {
    return [...this.#services.values()].flatMap((inNamespace) => [...inNamespace.values()].map(keyOf));
  }

  setService(service: Service): readonly string[] {
    const { namespace, name, selector } = service;
    put(this.#services, namespace, name, service);
    const key = keyOf(service);
    const matching = [...(this.#pods.get(namespace) ?? [])].filter(([, { labels }]) =>
      selectorMatches(selector, labels),
    );
    this.#podsOf.set(key, new Map(matching));
    return [key];
  }

  deleteService({ namespace, name }: Named): readonly string[] {
    this.#services.get(namespace)?.delete(name);
    this.#podsOf.delete(keyOf({ namespace, name }));
    return [keyOf({ namespace, name })];
  }

  setPod(pod: IndexedPod): readonly string[] {
    const { namespace, name } = pod.pod;
    const before = this.#pods.get(namespace)?.get(name);
    put(this.#pods, namespace, name, pod);
    const hasChanged = !isDeepStrictEqual(before?.pod, pod.pod);
    return this.#servicesIn(namespace)
      .filter((service) => {
        const key = keyOf(service);
        const matches = selectorMatches(service.selector, pod.labels);
        if (matches) {
          const wasThere = this.#podsOf.get(key)?.has(name) === true;
          put(this.#podsOf, key, name, pod);
          return hasChanged || !wasThere;
        }
        return this.#podsOf.get(key)?.delete(name) === true;
      })
      .map(keyOf);
  }

  deletePod({ namespace, name }: Named): readonly string[] {
    this.#pods.get(namespace)?.delete(name);
    return this.#servicesIn(namespace)
      .map(keyOf)
      .filter((key) => this.#podsOf.get(key)?.delete(name) === true);
  }

  /** Also for the answer to a write; its watch echo then changes nothing, and neither does an older one. */
  setSlice(slice: Slice): readonly string[] {
    const { namespace, name, labels } = slice.metadata;
    const key = keyOf({ namespace, name: labels?.[serviceNameLabel] ?? '' });
    if (!isNewer(slice, this.#slicesOf.get(key)?.get(name))) return [];
    put(this.#slicesOf, key, name, slice);
    return [key];
  }

  /** `key`: of its Service. */
  deleteSlice(key: string, name: string): readonly string[] {
    return this.#slicesOf.get(key)?.delete(name) === true ? [key] : [];
  }

  setEndpoints(endpoints: Endpoints): readonly string[] {
    const key = keyOf(endpoints.metadata);
    if (!isNewer(endpoints, this.#endpoints.get(key))) return [];
    this.#endpoints.set(key, endpoints);
    return [key];
  }

  deleteEndpoints(named: Named): readonly string[] {
    return this.#endpoints.delete(keyOf(named)) ? [keyOf(named)] : [];
  }

  #servicesIn(namespace: string): readonly Service[] {
    return [...(this.#services.get(namespace)?.values() ?? [])];
  }
}

function put<T>(maps: Map<string, Map<string, T>>, key: string, name: string, value: T): void {
  const map = maps.get(key);
  if (map === undefined) maps.set(key, new Map([[name, value]]));
  else map.set(name, value);
}

interface Versioned {
  readonly metadata: { readonly uid?: string; readonly resourceVersion?: string };
}

function isNewer(one: Versioned, than: Versioned | undefined): boolean {
  if (than === undefined || than.metadata.uid !== one.metadata.uid) return true;
  return Number(one.metadata.resourceVersion) > Number(than.metadata.resourceVersion);
}
