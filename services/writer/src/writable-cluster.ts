import type { ClusterChecks, ClusterWriter, Middleware } from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import type { Controller, EventToRecord } from '@sluice/model';
import type { CompetingWrite } from './apply/find-competing-write.ts';
import type { MassChangeGuard } from './confirmation/mass-change-guard.ts';
import type { RequestLimit } from './scheduling/request-limit.ts';
import type { RetryLimit } from './scheduling/retry-limit.ts';

/** A cluster as the writer sees it. */
export interface WritableCluster {
  readonly writer: ClusterWriter;
  /** What the requests must pass before `writer` gets them (see `mayWrite`). Default: nothing. */
  readonly checks?: ClusterChecks | undefined;
  /** Observes the requests, also those that do not pass. Default: nothing does. */
  readonly observe?: Middleware | undefined;
  /** URL of the API server, if known. */
  readonly server?: string | undefined;
  /** Schedules the requests to this cluster. */
  readonly limit: RequestLimit;
  /** Bounds the concurrent requests of each controller. Default: only `limit` does. */
  readonly controllerLimits?: Readonly<Partial<Record<Controller, RequestLimit>>>;
  /** Limits the retries of all plans. Default: no limit. */
  readonly retryLimit?: RetryLimit | undefined;
  /** Default: neither removals nor new addresses need confirmation. */
  readonly massChangeGuards?: readonly MassChangeGuard[];
  /** Default: repeated repairs are not investigated. */
  readonly competingControllers?: CompetingControllerDetection;
  /** Records Kubernetes Events on a best-effort basis. Never fails. */
  record(events: readonly EventToRecord[]): void;
}

export interface CompetingControllerDetection {
  /** Sluice's field manager, as in `managedFields`. */
  readonly ownManager: string;
  /** Called for each plan that repairs the same objects once more after several repairs in a row. */
  onCompetingWrite(plan: PlannedMutations, write: CompetingWrite): void;
  /** Whether to find out who caused a conflict, which costs a read. Default: never. */
  investigatesConflict?(): boolean;
  /** Called with the last write to the first object of a plan that ended in a conflict, if it was by another manager. */
  onConflict?(plan: PlannedMutations, write: CompetingWrite): void;
}

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
