/** The names that answers consist of. This file imports nothing, so that code for browsers can have their types. */

/** What is wrong with a Service, seen over all clusters. The runbook of logical Services explains each. */
export const conditionTypes = {
  /** No cluster has a ready endpoint. */
  NotServed: 'critical',
  /** Several clusters have the Service, but only one serves it. */
  ServedByOneCluster: 'warning',
  /** A cluster has the Service and no ready endpoint, while others serve it. */
  NoReadyEndpointsInCluster: 'warning',
  /** Endpoints of a cluster that does not answer, or that nobody watches, are in the totals. */
  LostClusterCounts: 'warning',
  /** Clusters differ in a field that clients depend on. */
  SpecDiffers: 'warning',
  /** Some clusters do not have the Service, which may be intended. */
  MissingInCluster: 'info',
} as const satisfies Readonly<Record<string, 'critical' | 'warning' | 'info'>>;

export type ConditionType = keyof typeof conditionTypes;

/** Why nothing is known of a cluster, for people. */
export const lostReasons = [
  /** Its API server does not answer. */
  'not answering',
  /** Its API server answers, but cannot be used. */
  'unusable',
  /** No watcher of the fleet has it. */
  'not watched',
  /** The store or the bus of the fleet does not answer. */
  'fleet not answering',
] as const;
export type LostReason = (typeof lostReasons)[number];

/** How a cluster serves a Service. */
export const servingStates = [
  /** All endpoints are ready. */
  'served',
  /** Some are. */
  'partly',
  /** None is. */
  'none',
  /** None is expected: an external name, or neither a selector nor endpoints. */
  'noneExpected',
  /** The Service does not exist there. */
  'missing',
  /** Not all of it is known yet. */
  'unknown',
  /** The cluster does not answer, nobody watches it, or it counts as lost. */
  'lost',
] as const;
export type ServingState = (typeof servingStates)[number];
