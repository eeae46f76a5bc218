import type { ApiClient } from './api-client.ts';
import type { Phase } from './phase.ts';
import { type BenchPod, benchPods, NAMESPACE, type Shape } from './shape.ts';

/** Endpoints of Services without a selector, as people write them: their addresses name the Pods that they stand for. */
export function customEndpoints(shape: Shape): readonly { readonly service: string; readonly object: object }[] {
  return [...Map.groupBy(benchPods(shape), ({ service }) => service)].map(([service, pods]) => ({
    service,
    object: endpointsObject(service, pods, new Set()),
  }));
}

/** Addresses become ready or not; one of each Service, since its Endpoints are written whole. */
export function addressFlips(shape: Shape, rate: number, seconds: number): Phase {
  const services = Map.groupBy(benchPods(shape), ({ service }) => service);
  const changing = [...services.values()].flatMap(([first]) => first ?? []);
  return {
    name: `${rate} writes/s of custom Endpoints`,
    rate,
    changes: Math.round(rate * seconds),
    source() {
      const notReady = new Set<string>();
      // Writes of one Service one after the other: an older one that comes later would undo the newer one.
      const last = new Map<string, Promise<unknown>>();
      let turn = 0;
      return () => {
        const pod = changing[turn++ % changing.length];
        if (pod === undefined) throw new Error('there are no Services');
        const ready = notReady.delete(pod.name);
        if (!ready) notReady.add(pod.name);
        const object = endpointsObject(pod.service, services.get(pod.service) ?? [], notReady);
        const write = (client: ApiClient) => {
          const before = last.get(pod.service)?.catch(() => {}) ?? Promise.resolve();
          const written = before.then(() => client.put(endpointsPath(pod.service), object));
          last.set(pod.service, written);
          return written;
        };
        return { pod, ready, write };
      };
    },
  };
}

export const endpointsPath = (service?: string): string =>
  `/api/v1/namespaces/${NAMESPACE}/endpoints${service === undefined ? '' : `/${service}`}`;

function endpointsObject(service: string, pods: readonly BenchPod[], notReady: ReadonlySet<string>): object {
  const address = ({ name, index }: BenchPod) => ({
    ip: `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
    targetRef: { kind: 'Pod', namespace: NAMESPACE, name },
  });
  const [ready, not] = [pods.filter(({ name }) => !notReady.has(name)), pods.filter(({ name }) => notReady.has(name))];
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: service, namespace: NAMESPACE },
    subsets: [
      {
        ...(ready.length > 0 && { addresses: ready.map(address) }),
        ...(not.length > 0 && { notReadyAddresses: not.map(address) }),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  };
}
