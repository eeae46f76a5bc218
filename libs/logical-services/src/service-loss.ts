import type { ServiceDescription } from './describe-service.ts';

/** What the loss of a cluster means for a Service. */
export interface ClusterLoss {
  readonly cluster: string;
  readonly clusterName: string;
  /** Share of the ready endpoints that would be lost, above 0 and up to 1. */
  readonly share: number;
  /** How many times its present load each remaining endpoint would get, if all share it evenly; null: none remains. */
  readonly loadFactor: number | null;
}

/** For each cluster that serves the Service, what its loss would mean, the worst first. */
export function lossesOf({ endpoints, clusters }: ServiceDescription): readonly ClusterLoss[] {
  const serving = clusters.filter(({ counts, endpoints: { ready } }) => counts && ready > 0);
  return [...Map.groupBy(serving, ({ cluster }) => cluster)]
    .map(([cluster, members]) => {
      const lost = members.reduce((sum, one) => sum + one.endpoints.ready, 0);
      const remaining = endpoints.ready - lost;
      const loadFactor = remaining === 0 ? null : endpoints.ready / remaining;
      return { cluster, clusterName: members[0]?.clusterName ?? cluster, share: lost / endpoints.ready, loadFactor };
    })
    .sort((a, b) => b.share - a.share);
}
