import { z } from 'zod';

/** Entries of a Service's history: schemas of the API, from which the types inside the console are derived. */

export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();
export const time = z.number().describe('milliseconds since the Unix epoch');
export const duration = z.number().describe('milliseconds');

/** The fields of an endpoint, besides its address, that affect a proxy. */
export const endpointState = z.object({
  ready: z.boolean(),
  serving: z.boolean(),
  terminating: z.boolean(),
  zone: z.string(),
  hints: list(z.string()).describe('zones, then nodes as node:NAME'),
});
export type EndpointState = z.infer<typeof endpointState>;

const endpointChange = z.object({
  type: z.enum(['added', 'removed', 'changed']),
  pod: z.string().describe('empty for a custom endpoint'),
  addresses: list(z.string()),
  slice: z.string(),
  before: endpointState.nullable(),
  after: endpointState.nullable(),
});
export type EndpointChange = z.infer<typeof endpointChange>;

const causes = z.object({
  first: list(z.object({ description: z.string(), observedAt: time })),
  more: z.number().describe('causes that are not listed'),
});

/** A write of another controller, as its watch event shows it. What caused it is inferred. */
const observedWrite = z.object({
  verb: z.enum(['create', 'update', 'delete']),
  manager: z.string().nullable().describe('field manager; null: unknown, as with every deletion'),
  causes,
  inferredFrom: z
    .enum(['content', 'time'])
    .nullable()
    .describe('content: it shows a state that the causes brought about; time: it is the first write after the cause'),
  latencyMs: duration.nullable().describe('from the first cause to the watch event of the write'),
  endpoints: list(endpointChange).describe('empty for Endpoints, which repeat the slices'),
});
export type ObservedWrite = z.infer<typeof observedWrite>;

const observation = z.object({
  of: z.enum(['service', 'pod', 'endpoints', 'slice', 'topology', 'cluster']),
  name: z.string(),
  text: z.string().describe('continues a sentence whose subject is the object: "became ready"'),
  write: observedWrite.optional().describe('absent: no write, or one of Sluice'),
});
export type Observation = z.infer<typeof observation>;

const mutation = z.object({
  verb: z.enum(['create', 'update', 'delete']),
  resource: z.enum(['endpoints', 'endpointslices']),
  name: z.string(),
});
const plannedMutation = mutation.extend({ endpoints: list(endpointChange) });
export type MutationSummary = z.infer<typeof plannedMutation>;

const common = {
  at: time,
  traceparent: z.string().optional().describe('W3C trace context of the record'),
  causes,
};
const ofPlan = { controller: z.string(), plan: z.object({ epoch: z.number(), number: z.number() }) };

const timeSpent = z.object({
  where: z
    .enum([
      ...(['batch period', 'adaptive batching', 'write cooldown', 'plan in flight', 'retry'] as const),
      ...(['repair interval', 'hint pacing', 'mass-change guard', 'watcher to reconciler', 'writer queue'] as const),
      ...(['API server', 'writer queue and API server'] as const),
    ])
    .describe(
      'retry: from a failed attempt to the next; repair interval: between repairs of what another client writes; hint ' +
        'pacing: hints follow the ratios of the Nodes slowly; writer queue and API server: a former version wrote it',
    ),
  ms: duration,
});
export type TimeSpent = z.infer<typeof timeSpent>;
/** Also of writes to the endpoints of a Pod. */
export const spent = list(timeSpent)
  .optional()
  .describe('where the time of a slow write went, in order; absent: it was fast, or the start is unknown');

/** A watcher published a Change. */
const observedEntry = z.object({ kind: z.literal('observed'), ...common, observations: list(observation) });
export type ObservedEntry = z.infer<typeof observedEntry>;

/** A reconciler decided on a plan. */
const decidedEntry = z.object({
  kind: z.literal('decided'),
  ...common,
  ...ofPlan,
  mutations: list(plannedMutation),
  incomplete: list(z.string()).describe('why the plan is not complete (E15)'),
  events: list(z.object({ reason: z.string(), message: z.string() })).describe('Kubernetes Events of the plan'),
});
export type DecidedEntry = z.infer<typeof decidedEntry>;

/** A writer reported the Outcome of a plan. */
const completedEntry = z.object({
  kind: z.literal('completed'),
  ...common,
  ...ofPlan,
  status: z.string(),
  message: z.string().describe('from the API server, if status is not "applied"'),
  retries: z.number(),
  latencyMs: duration.nullable().describe('from the first cause to the last response; null: the plan had no cause'),
  applyMs: duration.describe('from the decision to the last response'),
  spent,
  writes: list(mutation.extend({ ok: z.boolean() })),
  endpoints: list(endpointChange).describe('empty for the Endpoints controller, whose object repeats the slices'),
});
export type CompletedEntry = z.infer<typeof completedEntry>;

export const historyEntry = z.discriminatedUnion('kind', [observedEntry, decidedEntry, completedEntry]);
export type Entry = z.infer<typeof historyEntry>;

export const serviceName = {
  cluster: z.string().describe('UID of the cluster: that of namespace kube-system'),
  clusterName: z.string(),
  namespace: z.string(),
  name: z.string(),
};

export type NamedService = { readonly [K in keyof typeof serviceName]: string };
