import { type ConditionType, conditionTypes, lostReasons, servingStates } from '@sluice/logical-services/terms';
import { z } from 'zod';
import { duration, list, time } from './entry-schemas.ts';

/** Responses about Services over all clusters. */

export const conditionType = z
  .enum(Object.keys(conditionTypes) as ConditionType[])
  .describe(
    'NotServed: no cluster has a ready endpoint; ServedByOneCluster: several clusters have the Service, one serves it; ' +
      'NoReadyEndpointsInCluster: others do; LostClusterCounts: the last known endpoints of a cluster that is not ' +
      'watched or does not answer are in the totals; SpecDiffers: in a field that clients depend on; MissingInCluster: it does not exist there',
  );

const condition = z.object({
  type: conditionType,
  severity: z.enum(['critical', 'warning', 'info']),
  clusters: list(z.string()).describe('names'),
  message: z.string(),
});
export type ConditionView = z.infer<typeof condition>;

const counts = z.object({
  ready: z.number().describe('get traffic'),
  serving: z.number().describe('get traffic if none is ready'),
  terminating: z.number(),
  all: z.number(),
});

const lostReason = z
  .enum(lostReasons)
  .describe(
    'not answering: its API server; unusable: its API server answers, but cannot be used; not watched: no watcher of the fleet ' +
      'has it; fleet not answering: the store or the bus of the fleet does not',
  );
const clusterStatus = z.object({
  cluster: z.string().describe('UID'),
  clusterName: z.string(),
  lost: z
    .object({ since: time.describe('up to when its state is known; 0: it never was'), reason: lostReason })
    .nullable()
    .describe('nothing is known of it at present; null: it is watched'),
});
export type LogicalCluster = z.infer<typeof clusterStatus>;

export const servingState = z
  .enum(servingStates)
  .describe(
    'served: all endpoints are ready; partly: some are; none: none is; noneExpected: an external name, or neither a selector ' +
      'nor endpoints; missing: the Service does not exist there; unknown: not all of it is known yet; lost: the cluster is ' +
      'not watched, does not answer, or counts as lost',
  );
export type ServingState = z.infer<typeof servingState>;

const inCluster = z.object({
  cluster: z.string().describe('UID'),
  clusterName: z.string(),
  name: z.string().describe('name of the Service in this cluster'),
  exists: z.boolean().describe('false: only slices of it are left'),
  isComplete: z.boolean().describe('false: not all of it is known yet'),
  ageMs: duration.nullable().describe('age of what is known; null: the cluster is watched'),
  lostReason: lostReason.nullable().describe('null: the cluster is watched'),
  counts: z.boolean().describe('whether its endpoints are in the totals'),
  endpoints: counts,
  state: servingState.describe('of the cluster, also if several of its Services are joined'),
});

const logicalService = z.object({
  namespace: z.string(),
  name: z.string(),
  endpoints: counts.describe('of all clusters that count'),
  conditions: list(condition).describe('the most severe first; empty: nothing is wrong'),
  clusters: list(inCluster).describe('sorted by name'),
  states: z.record(z.string(), z.number()).describe('clusters by state'),
});
export type LogicalServiceSummary = z.infer<typeof logicalService>;

export const logicalServiceList = z.object({
  total: z.number().describe('matching Services'),
  counts: z
    .record(z.string(), z.number())
    .describe('Services by condition, ignoring the filters by condition and severity'),
  clusters: list(clusterStatus).describe('all clusters, sorted by name'),
  lostClusters: z
    .object({ action: z.enum(['keep', 'age-out', 'drop']), maxAgeMs: duration })
    .describe('how long the last known endpoints of a lost cluster count'),
  items: list(logicalService),
});
export type LogicalServiceList = z.infer<typeof logicalServiceList>;

export const logicalServiceDetail = logicalService.extend({
  clusters: list(inCluster.extend({ zones: list(counts.extend({ zone: z.string().describe('empty: unknown') })) })),
  missing: list(z.string()).describe('names of watched clusters that do not have it'),
  differences: list(
    z.object({
      field: z.string(),
      values: list(z.object({ value: z.string(), clusters: list(z.string()) })).describe('that of most clusters first'),
    }),
  ),
  losses: list(
    z.object({
      cluster: z.string(),
      clusterName: z.string(),
      share: z.number().describe('of the ready endpoints, up to 1'),
      loadFactor: z
        .number()
        .nullable()
        .describe('how many times its load each remaining endpoint would get; null: none remains'),
    }),
  ).describe('what the loss of each cluster would mean, the worst first'),
});
export type LogicalServiceDetail = z.infer<typeof logicalServiceDetail>;
