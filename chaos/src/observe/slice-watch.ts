import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterReader } from '@sluice/kubernetes';
import { errorMessage } from '@sluice/platform';
import { isObject, type Json, listAt, objectAt, textAt } from '@sluice/shadow';

/** Called for each Pod in each EndpointSlice of the namespace whenever the slice changes. */
export type OnEndpoint = (pod: string, ready: boolean) => void;

/** Watches EndpointSlices until `signal` aborts, like kube-proxy: lists again whenever a watch ends. */
export async function watchSlices(
  reader: ClusterReader,
  namespace: string,
  onShown: OnEndpoint,
  signal: AbortSignal,
): Promise<void> {
  const show = (object: unknown) => {
    const slice = object as Json;
    if (!isObject(slice) || textAt(objectAt(slice, 'metadata'), 'namespace') !== namespace) return;
    for (const endpoint of listAt(slice, 'endpoints')) {
      const pod = textAt(objectAt(endpoint, 'targetRef'), 'name');
      onShown(pod, objectAt(endpoint, 'conditions').ready !== false);
    }
  };
  while (!signal.aborted) {
    try {
      const page = await reader.list('endpointslices', { limit: 5_000, continueToken: '' }, signal);
      for (const item of page.items) show(item);
      for await (const events of reader.watch('endpointslices', page.resourceVersion, signal)) {
        for (const event of events) if (event.type === 'ADDED' || event.type === 'MODIFIED') show(event.object);
      }
    } catch (error) {
      if (signal.aborted) return;
      // No fault is injected into the API server, but a busy one may end a watch.
      process.stderr.write(`chaos: watch failed; listing again: ${errorMessage(error)}\n`);
      await sleep(100);
    }
  }
}
