import { type BenchPod, type BenchService, benchPods, benchServices, type Shape } from './shape.ts';

/** User-managed Endpoints of Services without a selector; their addresses name the Pods that they represent. */
export function customEndpoints(shape: Shape): readonly object[] {
  const pods = Map.groupBy(benchPods(shape), ({ service }) => service);
  return benchServices(shape).map((service) => endpointsObject(service, pods.get(service.name) ?? [], new Set()));
}

export const endpointsPath = ({ namespace, name }: BenchService): string =>
  `/api/v1/namespaces/${namespace}/endpoints/${name}`;

/** With all Pods of the Service, some of them not ready. */
export function endpointsObject(
  { namespace, name: service }: BenchService,
  pods: readonly BenchPod[],
  notReady: ReadonlySet<string>,
): object {
  const address = ({ name, index }: BenchPod) => ({
    ip: `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
    targetRef: { kind: 'Pod', namespace, name },
  });
  const [ready, not] = [pods.filter(({ name }) => !notReady.has(name)), pods.filter(({ name }) => notReady.has(name))];
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: service, namespace },
    subsets: [
      {
        ...(ready.length > 0 && { addresses: ready.map(address) }),
        ...(not.length > 0 && { notReadyAddresses: not.map(address) }),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  };
}
