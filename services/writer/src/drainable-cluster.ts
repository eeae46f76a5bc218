import type { WritableCluster } from './writable-cluster.ts';

/** Its metrics are exposed until it is closed. */
export interface ClosableCluster extends WritableCluster {
  close(): void;
}

export interface DrainableCluster {
  readonly cluster: WritableCluster;
  /** Closes the cluster once no request to it is in flight or queued. */
  drain(): Promise<void>;
}

/** Tracks the requests to a cluster, so that a removed cluster can be drained. */
export function drainable(cluster: ClosableCluster): DrainableCluster {
  const requests = new Set<Promise<unknown>>();
  return {
    cluster: {
      ...cluster,
      limit: {
        run(order, request, signal) {
          const response = cluster.limit.run(order, request, signal);
          const done = Promise.allSettled([response]);
          requests.add(done);
          void done.then(() => requests.delete(done));
          return response;
        },
      },
    },
    async drain() {
      while (requests.size > 0) await Promise.all(requests);
      cluster.close();
    },
  };
}
