import type { FakeApiServer, StoredObject } from '@sluice/fake-apiserver';
import type { Middleware } from '@sluice/kubernetes';
import { serviceNameLabel } from '../reference/objects.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';

/** This many repairs in a row are paced by the second (ADR 0024). After them the interval doubles, up to a minute. */
const freeRepairs = 5;
const maxPauseMs = 60_000;

/**
 * Counts the writes to Endpoints and slices of each Service that no writer waits for: those of other clients, and those of writers
 * that arrive after their request was given up. A reconciler paces the repairs of what they change.
 */
export class ForeignWrites {
  /** By cluster, and by namespace and name of the Service. */
  readonly #counts = new Map<SimulatedCluster, Map<string, number>>();
  /** Requests of writers without an answer, by the object that they write. */
  readonly #awaited = new Map<string, number>();
  #isOfWriter = false;

  watch(cluster: SimulatedCluster): void {
    cluster.server.onCommit((resource, { object }) => {
      if (resource !== 'endpoints' && resource !== 'endpointslices') return;
      const { namespace = '', name } = object.metadata;
      if (this.#isOfWriter && this.#awaited.has(nameOf(cluster, resource, namespace, name))) return;
      const service = `${namespace}/${serviceOf(resource, object)}`;
      const counts = this.#counts.get(cluster) ?? new Map<string, number>();
      this.#counts.set(cluster, counts.set(service, (counts.get(service) ?? 0) + 1));
    });
  }

  /** The server as writers see it. */
  writtenServer(server: FakeApiServer): FakeApiServer {
    return new Proxy(server, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          this.#isOfWriter = true;
          try {
            return value.apply(target, given) as unknown;
          } finally {
            this.#isOfWriter = false;
          }
        };
      },
    });
  }

  /** Sends the requests of a writer with `send`. */
  requests(cluster: SimulatedCluster, send: Middleware): Middleware {
    return async (request, next) => {
      if (request.verb !== 'create' && request.verb !== 'update' && request.verb !== 'delete')
        return send(request, next);
      const { namespace = '', name = '' } = request.verb === 'delete' ? request : metadataOf(request.object);
      const written = nameOf(cluster, request.resource, namespace, name);
      this.#awaited.set(written, (this.#awaited.get(written) ?? 0) + 1);
      try {
        return await send(request, next);
      } finally {
        const left = (this.#awaited.get(written) ?? 1) - 1;
        if (left === 0) this.#awaited.delete(written);
        else this.#awaited.set(written, left);
      }
    };
  }

  /** How long the next repair of a Service may wait at most for the last one, in milliseconds. */
  pauseMs(cluster: SimulatedCluster, service: string): number {
    return pauseAfter(this.#counts.get(cluster)?.get(service) ?? 0);
  }

  /** The longest such time of all Services, in milliseconds. */
  get longestPauseMs(): number {
    const counts = [...this.#counts.values()].flatMap((byService) => [...byService.values()]);
    return Math.max(0, ...counts.map(pauseAfter));
  }
}

/** After no more than the free repairs, the pause is a part of the general bound. */
export const pauseAfter = (foreignWrites: number): number =>
  foreignWrites <= freeRepairs ? 0 : Math.min(maxPauseMs, 1_000 * 2 ** (foreignWrites - freeRepairs));

const nameOf = ({ name: cluster }: SimulatedCluster, resource: string, namespace: string, name: string): string =>
  `${cluster} ${resource} ${namespace}/${name}`;

const metadataOf = (object: object) =>
  (object as { readonly metadata: { readonly namespace?: string; readonly name?: string } }).metadata;

const serviceOf = (resource: string, { metadata }: StoredObject): string =>
  resource === 'endpoints' ? metadata.name : (metadata.labels?.[serviceNameLabel] ?? '');
