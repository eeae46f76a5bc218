import type { ApiClient } from './api-client.ts';
import { endpointsObject, endpointsPath } from './custom-endpoints.ts';
import type { Phase } from './phase.ts';
import { benchPods, type Shape } from './shape.ts';

/** Flips the readiness of addresses in custom Endpoints; one address per Service, since Endpoints are written whole. */
export function addressFlips(shape: Shape, rate: number, seconds: number): Phase {
  const services = Map.groupBy(benchPods(shape), ({ service }) => service);
  const changing = [...services.values()].flatMap(([first]) => first ?? []);
  return {
    name: `${rate} writes/s of custom Endpoints`,
    rate,
    changes: Math.round(rate * seconds),
    source() {
      const notReady = new Set<string>();
      // Writes to one Service are sequential: an older one that arrives late would undo a newer one.
      const last = new Map<string, Promise<unknown>>();
      let next = 0;
      return () => {
        const pod = changing[next++ % changing.length];
        if (pod === undefined) throw new Error('there are no Services');
        const ready = notReady.delete(pod.name);
        if (!ready) notReady.add(pod.name);
        const service = { namespace: pod.namespace, name: pod.service };
        const object = endpointsObject(service, services.get(pod.service) ?? [], notReady);
        const write = (client: ApiClient) => {
          const before = last.get(pod.service)?.catch(() => {}) ?? Promise.resolve();
          const written = before.then(() => client.put(endpointsPath(service), object));
          last.set(pod.service, written);
          return written;
        };
        return { pod, ready, write };
      };
    },
  };
}
