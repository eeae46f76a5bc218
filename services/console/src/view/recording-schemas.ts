import { z } from 'zod';
import { duration, list, serviceName, time } from './entry-schemas.ts';

/** Responses of the API that answer from a recording. */

export const serviceOutage = z.object({
  ...serviceName,
  reason: z.string().describe('such as NoReadyEndpoints; the runbook of problems explains each'),
  message: z.string().describe('what the objects showed when it began'),
  from: time,
  to: time.nullable().describe('null: it continues'),
  isStartKnown: z.boolean().describe('false: it began before the recording'),
  event: z.string().nullable().describe('the last event of the Service or its Pods before'),
});
export type ServiceOutage = z.infer<typeof serviceOutage>;

export const serviceProblem = serviceOutage.extend({
  severity: z
    .enum(['critical', 'warning', 'info'])
    .describe('critical: clients fail; warning: clients may fail; info: it costs resources, or what was asked for'),
  cluster: serviceName.cluster.describe('UID; *: seen over all clusters'),
  namespace: serviceName.namespace.describe('*: that of a whole cluster'),
});
export type ServiceProblem = z.infer<typeof serviceProblem>;

const problemCount = z.number().describe('of this severity that overlap with the bucket');

export const problemCounts = z.object({
  since: time,
  until: time.describe('no later than the end of the recording'),
  stepMs: duration.describe('of a bucket'),
  clusters: list(
    z.object({
      cluster: z.string(),
      clusterName: z.string(),
      cells: list(
        z.object({
          at: time.describe('start of the bucket'),
          ...{ critical: problemCount, warning: problemCount, info: problemCount },
        }),
      ).describe('buckets with problems, in the order of time'),
    }),
  ).describe('also those without problems, the most severe first'),
});
export type ProblemCounts = z.infer<typeof problemCounts>;

const appearance = z.enum(['absent', 'not ready', 'ready', 'terminating']);

export const propagation = z.object({
  ...serviceName,
  pod: z.string(),
  place: z.enum(['slices', 'Endpoints']).describe('Endpoints only from a second on'),
  from: appearance.describe('as the place showed the Pod'),
  to: appearance.describe('as it should have'),
  event: z.string().describe('what began it'),
  startedAt: time,
  isStartKnown: z.boolean().describe('false: it began before the Service was watched, or while it was not'),
  endedAt: time.nullable().describe('null: it continues'),
  end: z
    .enum(['written', 'superseded', 'unobserved'])
    .nullable()
    .describe(
      'written: the place shows the Pod as it should; superseded: a later event changed how it should; unobserved: while the ' +
        'Service was not watched',
    ),
});
export type PropagationView = z.infer<typeof propagation>;

export const rollout = z.object({
  from: time.describe('later than asked for if there are too many records'),
  to: time,
  pods: list(
    z.object({
      pod: z.string(),
      owner: z.string().describe('the controller that owns it: ReplicaSet web-5d9; empty: none, or not recorded'),
      spans: list(
        z.object({
          from: time,
          to: time.nullable().describe('null: it continues'),
          state: z.enum(['ready', 'not ready', 'terminating', 'unknown']).describe('unknown: nothing was recorded'),
        }),
      ).describe('in the order of time; between them, the Pod did not exist'),
    }),
  ).describe('by owner, those that came first first'),
});
export type RolloutView = z.infer<typeof rollout>;

export const readinessChanges = z.object({
  ...serviceName,
  pod: z.string(),
  changes: z.number().describe('how often it became ready or not ready'),
  firstAt: time,
  lastAt: time,
});
export type ReadinessChangesView = z.infer<typeof readinessChanges>;

export const drain = z.object({
  ...serviceName,
  removals: z.number().describe('ready Pods that were deleted or terminated'),
  p50Ms: duration.describe('from the watch event of the Pod to that of the slices without it as a ready endpoint'),
  p99Ms: duration,
  maxMs: duration,
  proxyDelayMs: duration.describe('assumed: from the slices to the rules of the last proxy'),
  neededSeconds: z.number().describe('how long a Pod should continue to serve: p99Ms and proxyDelayMs, rounded up'),
  preStop: list(z.string()).describe('preStop hooks of its Pods: none, sleep N s, exec, httpGet or tcpSocket'),
  gracePeriodSeconds: z.number().nullable().describe('the shortest of its Pods; null: it has no Pod'),
  isLongEnough: z.boolean().nullable().describe('whether every hook sleeps as long as needed; null: unknown'),
});
export type DrainView = z.infer<typeof drain>;

const disruptedService = z.object({
  namespace: z.string(),
  name: z.string(),
  isStartKnown: z
    .boolean()
    .describe('false: how it was at the start is not recorded, or before too many records; all but outages is 0 then'),
  pods: z.number().describe('of the Service when the first event of the Node affected it'),
  onNode: z.number().describe('those on the Node'),
  shown: z.number().describe('those on the Node that slices showed as ready'),
  left: z.number().describe('of these, those that slices stopped to show as ready'),
  p50Ms: duration
    .nullable()
    .describe(
      'since the Node or the Pod was not ready or was deleted, until slices no longer showed it; null: none left',
    ),
  maxMs: duration.nullable(),
  deleted: list(
    z.object({
      pod: z.string(),
      at: time,
      reason: z.string().describe('of the condition DisruptionTarget, such as DeletionByTaintManager; empty: unknown'),
    }),
  ).describe('those on the Node that were deleted'),
  replaced: z.number().describe('of these, those whose controller has a new Pod that became ready on another Node'),
  outages: list(z.object({ from: time, to: time.nullable().describe('null: it continues') })).describe(
    'when it lost its last ready endpoint meanwhile',
  ),
  lostMs: duration.describe('sum of the outages, until the end of the period'),
});

export const nodeDisruption = z.object({
  cluster: serviceName.cluster,
  clusterName: serviceName.clusterName,
  node: z.string(),
  from: time,
  to: time.nullable().describe('null: neither a recovery nor the deletion of the Node was recorded'),
  isDeleted: z.boolean(),
  events: list(z.object({ at: time, text: z.string() })).describe('of the Node, in the order of time'),
  services: list(disruptedService).describe('those with Pods on the Node, longest without a ready endpoint first'),
});
export type NodeDisruptionView = z.infer<typeof nodeDisruption>;
