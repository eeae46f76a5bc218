import { type BenchPod, benchPods, NAMESPACE, type Shape } from './shape.ts';

/** User-managed Endpoints of Services without a selector; their addresses name the Pods that they represent. */
export function customEndpoints(shape: Shape): readonly { readonly service: string; readonly object: object }[] {
  return [...Map.groupBy(benchPods(shape), ({ service }) => service)].map(([service, pods]) => ({
    service,
    object: endpointsObject(service, pods, new Set()),
  }));
}

export const endpointsPath = (service?: string): string =>
  `/api/v1/namespaces/${NAMESPACE}/endpoints${service === undefined ? '' : `/${service}`}`;

/** With all Pods of the Service, some of them not ready. */
export function endpointsObject(service: string, pods: readonly BenchPod[], notReady: ReadonlySet<string>): object {
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
