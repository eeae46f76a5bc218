import { ListBudget } from '@sluice/kubernetes';
import { heapLimitBytes } from '@sluice/platform/process';
import type { Metrics } from '@sluice/telemetry';

interface ClusterCache {
  readonly listBudget: ListBudget;
  /** Ends its metrics. */
  close(): void;
}

/**
 * The memory for the objects of one watcher of a cluster, of which it may have several, with its metrics. What the default leaves
 * suffices for the rest of the process.
 */
export function clusterCache(
  metrics: Metrics | undefined,
  identity: string,
  maxBytes: number = heapLimitBytes() / 2,
  watchers = 1,
): ClusterCache {
  const listBudget = new ListBudget(maxBytes / watchers);
  const hide = [
    metrics?.show({ identity }, { sluice_informer_cache_limit_bytes: () => listBudget.maxBytes }),
    metrics?.report('sluice_informer_cache_bytes', (report) => {
      for (const [resource, bytes] of listBudget.bytes) report({ identity, resource }, bytes);
    }),
  ];
  return {
    listBudget,
    close() {
      for (const one of hide) one?.();
    },
  };
}
