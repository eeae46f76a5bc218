import type { ApiClient } from './api-client.ts';
import { customEndpoints, endpointsPath } from './custom-endpoints.ts';
import { benchPods, NAMESPACE, nodeObjects, podObject, type Shape, serviceObjects } from './shape.ts';

/** Concurrent requests, enough to keep the API server busy. */
const WRITERS = 32;

/** Creates the namespace, Nodes, Services and ready Pods. Call it before a controller runs. */
export async function populate(client: ApiClient, shape: Shape): Promise<void> {
  const inNamespace = `/api/v1/namespaces/${NAMESPACE}`;
  const at = kubernetesTime(Date.now());
  await client.post('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  await each(nodeObjects(), (node) => client.post('/api/v1/nodes', node));
  await each(serviceObjects(shape), (service) => client.post(`${inNamespace}/services`, service));
  if (shape.custom) {
    await each(customEndpoints(shape), ({ object }) => client.post(endpointsPath(), object));
    return;
  }
  await each(benchPods(shape), async (pod) => {
    const object = podObject(pod, true, at);
    await client.post(`${inNamespace}/pods`, object);
    await client.put(podStatusPath(pod.name), object);
  });
}

export function podStatusPath(name: string): string {
  return `/api/v1/namespaces/${NAMESPACE}/pods/${name}/status`;
}

/** RFC 3339 in whole seconds. */
export function kubernetesTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Runs the task for all items, some of them concurrently. */
export async function each<T>(items: readonly T[], task: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await task(item);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}
