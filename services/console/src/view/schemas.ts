import { z } from 'zod';

/** What the API answers. One description for the server, the page, the command line and the OpenAPI document. */

const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();
const time = z.number().describe('milliseconds since the Unix epoch');
const duration = z.number().describe('milliseconds');

export const serviceStatus = z
  .enum(['ok', 'degraded', 'empty', 'pending', 'refused', 'unknown', 'unmanaged', 'gone'])
  .describe(
    'ok: all endpoints ready; degraded: some are not; empty: no endpoint is ready; pending: a write is on its way; ' +
      'refused: the API server refuses the write; unknown: the history begins in the middle; unmanaged: nothing is to be ' +
      'written, as it has no selector and no Endpoints to mirror, or is an ExternalName; gone: there is no such Service',
  );
export type ServiceStatus = z.infer<typeof serviceStatus>;

export const serviceSummary = z.object({
  cluster: z.string().describe('identity: the uid of its namespace kube-system'),
  clusterName: z.string(),
  namespace: z.string(),
  name: z.string(),
  status: serviceStatus,
  pods: z.number(),
  endpoints: z.number(),
  ready: z.number(),
  slices: z.number(),
  lastChangeAt: time.nullable().describe('of the last write; null: none is kept'),
  lastLatencyMs: duration.nullable().describe('of the last write, from what was first seen to the last answer'),
});
export type ServiceSummary = z.infer<typeof serviceSummary>;

export const serviceList = z.object({
  total: z.number().describe('how many match'),
  counts: z.record(z.string(), z.number()).describe('how many match, by status, whatever status was asked for'),
  items: list(serviceSummary),
});
export type ServiceList = z.infer<typeof serviceList>;

const face = {
  ready: z.boolean(),
  serving: z.boolean(),
  terminating: z.boolean(),
  zone: z.string(),
  hints: list(z.string()).describe('zones, and nodes as node:NAME'),
};
const endpointFace = z.object(face);

export const podExplanation = z.object({
  pod: z.string(),
  verdict: z.enum(['ready', 'not ready', 'terminating', 'left out', 'pending', 'unknown']),
  reasons: list(z.string()).describe('for people, the weightiest first'),
  ips: list(z.string()),
  node: z.string(),
  zone: z.string(),
  placements: list(z.object({ slice: z.string(), addressType: z.string(), addresses: list(z.string()), ...face })),
  deletingSince: time
    .nullable()
    .describe('when it was first seen being deleted, also of one that is gone; null: it is not, or that is not kept'),
  lastChange: z
    .object({ at: time, what: z.string(), causes: list(z.string()), latencyMs: duration.nullable() })
    .nullable()
    .describe('the last write that changed its endpoints, as far as it is kept'),
  unready: z
    .object({ at: time, causes: list(z.string()), latencyMs: duration.nullable() })
    .nullable()
    .describe('the write that told proxies that it is not ready any more; null: it is, never was, or that is not kept'),
});
export type PodView = z.infer<typeof podExplanation>;

export const sliceView = z.object({
  name: z.string(),
  addressType: z.string(),
  managedBy: z.string(),
  ports: list(z.object({ name: z.string(), protocol: z.string(), port: z.number().nullable() })),
  endpoints: list(z.object({ pod: z.string(), node: z.string(), addresses: list(z.string()), ...face })),
});
export type SliceView = z.infer<typeof sliceView>;

export const serviceDetail = z.object({
  at: time.describe('the point in time that it shows'),
  live: z.boolean().describe('it shows what is now'),
  summary: serviceSummary,
  kind: z
    .object({ type: z.string(), headless: z.boolean(), selector: z.record(z.string(), z.string()).nullable() })
    .nullable()
    .describe('null: there is no such Service'),
  notes: list(z.string()),
  pods: list(podExplanation),
  slices: list(sliceView),
  endpoints: z
    .object({ ready: z.number(), notReady: z.number() })
    .nullable()
    .describe('addresses of the Endpoints object; null: there is none'),
});
export type ServiceDetail = z.infer<typeof serviceDetail>;

const endpointChange = z.object({
  what: z.enum(['added', 'removed', 'changed']),
  pod: z.string(),
  addresses: list(z.string()),
  slice: z.string(),
  before: endpointFace.nullable(),
  after: endpointFace.nullable(),
});

const causes = z.object({
  first: list(z.object({ description: z.string(), observedAt: time })),
  more: z.number(),
});
const plan = z.object({ epoch: z.number(), number: z.number() });
const common = { at: time, traceparent: z.string().optional(), causes };

export const historyEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('seen'),
    ...common,
    news: list(z.object({ of: z.string(), name: z.string(), what: z.string() })),
  }),
  z.object({
    kind: z.literal('decided'),
    ...common,
    controller: z.string(),
    plan,
    mutations: list(
      z.object({ verb: z.string(), resource: z.string(), name: z.string(), endpoints: list(endpointChange) }),
    ),
    incomplete: list(z.string()),
    events: list(z.object({ reason: z.string(), message: z.string() })),
  }),
  z.object({
    kind: z.literal('done'),
    ...common,
    controller: z.string(),
    plan,
    status: z.string(),
    message: z.string(),
    retries: z.number(),
    latencyMs: duration.nullable(),
    applyMs: duration,
    writes: list(z.object({ verb: z.string(), resource: z.string(), name: z.string(), ok: z.boolean() })),
    endpoints: list(endpointChange),
  }),
]);

export const historyView = z.object({
  since: time.describe('before it nothing is kept'),
  retentionMs: duration,
  total: z.number().describe('entries in the asked time'),
  entries: list(historyEntry).describe('the last ones of the asked time, oldest first'),
});
export type HistoryView = z.infer<typeof historyView>;

export const clusterView = z.object({
  identity: z.string(),
  name: z.string(),
  version: z.string(),
  server: z.string(),
  state: z.string(),
  watcher: z
    .object({ owner: z.string(), epoch: z.number() })
    .optional()
    .describe('who holds the lease of watching it; absent: nobody, or not known here'),
  services: z.number(),
});

export const overview = z.object({
  version: z.string(),
  now: time,
  since: time.nullable().describe('when the history begins; null: it is empty'),
  retentionMs: duration,
  historyBytes: z.number(),
  behind: z.number().describe('logs of which older records are still being read'),
  clusters: list(clusterView),
  jaeger: z.string().nullable().describe('where a person looks at traces; a trace id takes the place of {traceId}'),
  traces: z.boolean().describe('this console shows traces itself, at /traces/ID and /api/v1/traces/ID'),
});
export type Overview = z.infer<typeof overview>;

export const recentChange = z.object({
  at: time,
  cluster: z.string(),
  clusterName: z.string(),
  namespace: z.string(),
  name: z.string(),
  controller: z.string(),
  status: z.string(),
  latencyMs: duration.nullable(),
  added: z.number(),
  removed: z.number(),
  changed: z.number(),
  causes: list(z.string()),
  traceparent: z.string().optional(),
});
export type RecentChange = z.infer<typeof recentChange>;

export const update = z.object({ services: list(serviceSummary), changes: list(recentChange) });
/** What a page that is open is told: Services that had news, and what was written. */
export type Update = z.infer<typeof update>;

const share = {
  owner: z.string().describe('empty: nobody'),
  epoch: z.number(),
  lag: z.number().nullable().describe('records that are not worked off; null: not known'),
};
export const partitionView = z.object({
  partition: z.number(),
  ...share,
  writer: z.object(share).describe('who carries out its plans'),
});
export const parkedView = z.object({
  cluster: z.string(),
  clusterName: z.string(),
  namespace: z.string(),
  name: z.string(),
  controller: z.string(),
  message: z.string(),
  since: time,
  nextTryAt: time.nullable().describe('by itself; null: not known, or only when something changes'),
});
export const deadLetterView = z.object({
  name: z.string(),
  topic: z.string(),
  key: z.string(),
  reason: z.string(),
  at: time,
});

const spanView = z.object({
  id: z.string(),
  parent: z.string().nullable().describe('id of another span of the trace; null: it begins with this one'),
  depth: z.number().describe('below how many others it is; spans come each below its parent'),
  service: z.string(),
  name: z.string(),
  startedAt: time,
  durationMs: duration,
  error: z.string().nullable(),
  attributes: list(z.object({ name: z.string(), value: z.string() })),
  links: list(
    z.object({
      traceId: z.string(),
      spanId: z.string(),
      carries: z.boolean().describe('true: that one came together with this; false: that one leads to the write'),
    }),
  ),
});
export type SpanView = z.infer<typeof spanView>;

export const traceView = z.object({
  traceId: z.string(),
  startedAt: time,
  durationMs: duration,
  cause: z.string().nullable().describe('what was seen first, in words'),
  service: z
    .object({ cluster: z.string(), namespace: z.string(), name: z.string() })
    .nullable()
    .describe('the Kubernetes Service that it is about'),
  services: list(z.string()).describe('who did it, by the names that they have in traces'),
  spans: list(spanView),
});
export type TraceView = z.infer<typeof traceView>;

/** Why a request was refused. */
export const problem = z.object({ error: z.string(), hint: z.string().optional() });
