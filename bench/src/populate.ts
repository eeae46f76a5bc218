import type { ApiClient } from './api-client.ts';
import { customEndpoints } from './custom-endpoints.ts';
import {
  type BenchPod,
  benchPods,
  namespaceNames,
  namespaceObject,
  nodeObjects,
  podObject,
  type Shape,
  serviceObjects,
} from './shape.ts';

/** Concurrent requests, enough to keep the API server busy. */
const WRITERS = 32;

/** Creates the namespaces, Nodes, Services and ready Pods. Call it before a controller runs. */
export async function populate(client: ApiClient, shape: Shape): Promise<void> {
  const at = kubernetesTime(Date.now());
  await each(namespaceNames(shape).map(namespaceObject), (object) => client.post('/api/v1/namespaces', object));
  await each(nodeObjects(), (node) => client.post('/api/v1/nodes', node));
  await each(serviceObjects(shape), (service) => client.post(`${pathIn(service)}/services`, service));
  if (shape.custom) {
    await each(customEndpoints(shape), (object) => client.post(`${pathIn(object)}/endpoints`, object));
    return;
  }
  await each(benchPods(shape), async (pod) => {
    const object = podObject(pod, true, at);
    await client.post(podsPath(pod), object);
    await client.put(podStatusPath(pod), object);
  });
}

export const podsPath = ({ namespace }: BenchPod): string => `/api/v1/namespaces/${namespace}/pods`;

export const podStatusPath = (pod: BenchPod): string => `${podsPath(pod)}/${pod.name}/status`;

function pathIn(object: object): string {
  const { metadata } = object as { readonly metadata: { readonly namespace: string } };
  return `/api/v1/namespaces/${metadata.namespace}`;
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
