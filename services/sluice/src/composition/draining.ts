import type { WritableCluster } from '@sluice/writer';
import type { ClosableCluster } from './writable-cluster.ts';

export interface Draining {
  readonly cluster: WritableCluster;
  /** Closes it once no request to it is under way or waits for its turn, and resolves then. */
  idle(): Promise<void>;
}

/** Knows what is under way, so that a cluster which is removed can be waited for. */
export function draining(cluster: ClosableCluster): Draining {
  const running = new Set<Promise<unknown>>();
  return {
    cluster: {
      ...cluster,
      limit: {
        run(order, request, signal) {
          const done = cluster.limit.run(order, request, signal);
          const settled = done.then(
            () => {},
            () => {},
          );
          running.add(settled);
          void settled.then(() => running.delete(settled));
          return done;
        },
      },
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
      cluster.close();
    },
  };
}
