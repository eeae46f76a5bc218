import { z } from 'zod';
import { duration, endpointState, historyEntry, list, serviceName, spent, time } from './entry-schemas.ts';

export type { NamedService } from './entry-schemas.ts';
export * from './logical-service-schemas.ts';
export * from './recording-schemas.ts';

/** Responses of the API: one description for the server, the page, the CLI and the OpenAPI document. */

export const serviceStatus = z
  .enum(['ok', 'rolling', 'degraded', 'empty', 'pending', 'refused', 'unknown', 'unmanaged', 'deleted'])
  .describe(
    'ok: all endpoints are ready or terminating; rolling: some are not ready, for a short time; degraded: too few are ready, or ' +
      'some are not for too long, or a Pod or port is left out; empty: none is ready; pending: a write is in flight; refused: the API server refuses the write; unknown: the history is incomplete; unmanaged: no selector and no Endpoints to mirror, or ' +
      'type ExternalName; deleted: the Service does not exist, or its cluster was removed',
  );
export type ServiceStatus = z.infer<typeof serviceStatus>;

const serviceSummary = z.object({
  ...serviceName,
  status: serviceStatus,
  problem: z
    .string()
    .describe(
      'why Pods that are ready get no traffic: a port that no Pod has, or a missing Node; empty: no such reason',
    ),
  reason: z.string().describe('why the Service is not ok, in one line; empty: it is, or the status says all'),
  pods: z.number(),
  endpoints: z.number().describe('ready, not ready and terminating'),
  ready: z.number().describe('endpoints that are ready and have a port'),
  terminating: z.number().describe('endpoints of Pods that are being deleted, and not ready'),
  leftOut: z
    .number()
    .optional()
    .describe('Pods that are ready and in no slice, because their Node does not exist; absent: none'),
  slices: z.number(),
  lastChangeAt: time.nullable().describe('time of the last write; null: none in the history'),
  lastLatencyMs: duration.nullable().describe('of the last write, from its first cause to the last response'),
});
export type ServiceSummary = z.infer<typeof serviceSummary>;

const endpointCounts = z
  .object({ ready: z.number(), all: z.number() })
  .describe('without endpoints of Pods that are being deleted, and not ready');

export const serviceList = z.object({
  total: z.number().describe('matching Services'),
  counts: z.record(z.string(), z.number()).describe('Services by status, ignoring the status filter'),
  endpoints: endpointCounts,
  groups: list(z.object({ namespace: z.string(), total: z.number(), endpoints: endpointCounts }))
    .optional()
    .describe('in the order of the items, which are grouped; absent: they are not'),
  items: list(serviceSummary),
});
export type ServiceList = z.infer<typeof serviceList>;

const outage = z.object({
  since: time.describe('its last answer before; if it has never answered, the first attempt'),
  reason: z.string(),
  answers: z.boolean().optional().describe('true: the server answers, but cannot be used'),
  neverAnswered: z.boolean().optional().describe('true: not since its watcher started'),
});
const outageView = outage.extend({ what: z.string().describe('the name of a cluster, "the store" or "the bus"') });
/** A server that does not answer: what is shown is from that time. */
export type OutageView = z.infer<typeof outageView>;

const write = { at: time, causes: list(z.string()), latencyMs: duration.nullable(), spent };

const podView = z.object({
  pod: z.string(),
  verdict: z
    .enum(['ready', 'not ready', 'terminating', 'excluded', 'pending', 'unknown'])
    .describe(
      'ready: receives traffic; not ready, terminating: in a slice; excluded: in no slice, as it should be; pending: the ' +
        'slices do not match the Pod yet; unknown: not a Pod of the Service',
    ),
  reasons: list(z.string()).describe('most important first; never empty'),
  ips: list(z.string()),
  node: z.string(),
  zone: z.string(),
  placements: list(
    endpointState.extend({ slice: z.string(), addressType: z.string(), addresses: list(z.string()) }),
  ).describe('endpoints of the Pod'),
  deletingSince: time.nullable().describe('when its deletion was first observed, also if it is deleted by now'),
  lastChange: z
    .object({ ...write, type: z.enum(['added', 'removed', 'changed']) })
    .nullable()
    .describe('the last write that changed its endpoints; null: none in the history'),
  unready: z
    .object(write)
    .nullable()
    .describe(
      'the write that made its endpoint not ready or removed it; null: ready, never ready, or not in the history',
    ),
  readinessChanges: z.number().describe('how often its readiness changed in the last minute'),
});
export type PodView = z.infer<typeof podView>;

const sliceView = z.object({
  name: z.string(),
  addressType: z.string(),
  managedBy: z.string(),
  ports: list(z.object({ name: z.string(), protocol: z.string(), port: z.number().nullable() })),
  endpoints: list(endpointState.extend({ pod: z.string(), node: z.string(), addresses: list(z.string()) })),
});
export type SliceView = z.infer<typeof sliceView>;

/** A Pod on its own. */
export const podDetail = podView.extend({
  outage: outageView.nullable().describe('null: the cluster answers'),
});
export type PodDetail = z.infer<typeof podDetail>;

export const serviceDetail = z.object({
  at: time.describe('the time shown'),
  outage: outageView.nullable().describe('null: the cluster answers'),
  live: z.boolean().describe('true: the current state'),
  summary: serviceSummary,
  joinedAs: z.string().nullable().describe('its name over all clusters; null: it is not joined'),
  kind: z
    .object({ type: z.string(), headless: z.boolean(), selector: z.record(z.string(), z.string()).nullable() })
    .nullable()
    .describe('null: the Service does not exist'),
  notes: list(z.string()),
  pods: list(podView),
  slices: list(sliceView),
  endpoints: z
    .object({ ready: z.number(), notReady: z.number() })
    .nullable()
    .describe('number of addresses in the Endpoints object; null: it does not exist'),
});
export type ServiceDetail = z.infer<typeof serviceDetail>;

const coverage = {
  since: time.describe('start of the history'),
  gaps: list(z.object({ from: time, to: time })).describe('when nothing was recorded'),
  unreadable: list(z.string()).describe('parts of the recording that cannot be read'),
};

export const historyView = z.object({
  ...coverage,
  retentionMs: duration,
  total: z.number().describe('matching entries'),
  outage: outageView.nullable().describe('null: the cluster answers'),
  entries: list(historyEntry).describe('the last matching entries, oldest first'),
});
export type HistoryView = z.infer<typeof historyView>;

export const serviceLog = z.object({
  complete: z.boolean().describe('whether nothing earlier is missing'),
  messages: list(z.looseObject({ kind: z.string() })).describe('in the order in which they were applied'),
});
export type ServiceLogView = z.infer<typeof serviceLog>;

const lease = { owner: z.string().describe('empty: nobody'), epoch: z.number().describe('fencing token of the lease') };

const clusterView = z.object({
  identity: z.string(),
  name: z.string(),
  version: z.string(),
  server: z.string(),
  state: z.string(),
  outage: outage.optional().describe('set while the API server does not answer'),
  competing: z.string().optional().describe('field manager of another controller that recently wrote the same objects'),
  paused: z.string().optional().describe('why writes to the cluster are paused; absent: they are not'),
  watcher: z.object(lease).optional().describe('holder of the watcher lease; absent: nobody, or not a fleet'),
  notWatchedSince: time
    .optional()
    .describe('when the console first saw that no watcher has it; absent: one has, or no fleet'),
  services: z.number(),
});
export type ClusterView = Omit<z.infer<typeof clusterView>, 'services'>;

export const overview = z.object({
  version: z.string(),
  now: time,
  ...coverage,
  retentionMs: duration,
  historyBytes: z.number(),
  servicesLimit: z.number().optional().describe('number of Services with a history, if there are more'),
  behind: z.number().describe('logs whose older records are still being read'),
  clusters: list(clusterView),
  outage: outageView.nullable().describe('store or bus does not answer: everything may be outdated; null: both answer'),
  storeProblems: list(z.string()).describe('settings of the store that can lose data'),
  fleet: z.boolean().describe('whether there are partitions and dead letters'),
  jaeger: z.string().nullable().describe('URL of a trace in the Jaeger UI; {traceId} is replaced'),
  recording: z
    .object({
      ...{ from: time, to: time },
      isRedacted: z.boolean().describe('names, addresses, labels and messages are replaced by pseudonyms'),
    })
    .nullable()
    .describe(
      'period in which questions about all Services are answered, such as outages; null: there is no recording',
    ),
  traces: z.boolean().describe('whether this console shows traces, at /traces/ID and /api/v1/traces/ID'),
});
export type Overview = z.infer<typeof overview>;

export const recentChange = z.object({
  ...serviceName,
  at: time,
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

const activityView = z.object({
  ...serviceName,
  services: z.number().describe('Services that were written'),
  writes: z.number(),
  failed: z.number().describe('writes that were not applied'),
  endpoints: z.number().describe('endpoints that were added, removed or changed'),
  p50Ms: duration.nullable().describe('from the first cause to the last response; null: unknown'),
  p99Ms: duration.nullable(),
  lastAt: time,
});
/** Of a cluster, if namespace and name are empty. */
export type ActivityView = z.infer<typeof activityView>;

export const activityList = z.object({
  since: time.describe('start of the period, within the history'),
  until: time,
  total: z.number().describe('Services or clusters that were written'),
  items: list(activityView),
});
export type ActivityList = z.infer<typeof activityList>;

export const update = z.object({ services: list(serviceSummary), changes: list(recentChange) });
/** Services that changed, and new writes. */
export type Update = z.infer<typeof update>;

const share = { ...lease, lag: z.number().nullable().describe('records not processed yet; null: unknown') };
export const partitionView = z.object({
  partition: z.number(),
  ...share,
  writer: z.object(share).describe('the writer that applies its plans'),
});
export type PartitionView = z.infer<typeof partitionView>;

export const parkedView = z.object({
  ...serviceName,
  controller: z.string(),
  message: z.string(),
  since: time,
  nextTryAt: time.nullable().describe('time of the next retry; null: unknown, or only after a change or a resync'),
});
export type ParkedView = z.infer<typeof parkedView>;

export const deadLetterView = z.object({
  name: z.string(),
  topic: z.string(),
  key: z.string(),
  clusterName: z.string().describe('name of the cluster in the key; empty if there is none'),
  reason: z.string(),
  at: time,
});
export type DeadLetterView = z.infer<typeof deadLetterView>;

const spanView = z.object({
  id: z.string(),
  parent: z.string().nullable().describe('id of another span of the trace; null: a root span'),
  depth: z.number().describe('number of ancestors; each span follows its parent'),
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
      carries: z.boolean().describe('true: the linked span was coalesced into this one; false: it continues this one'),
    }),
  ),
});
export type SpanView = z.infer<typeof spanView>;

export const traceView = z.object({
  traceId: z.string(),
  startedAt: time,
  durationMs: duration,
  cause: z.string().nullable().describe('the first cause, for people'),
  service: z
    .object({ cluster: z.string(), namespace: z.string(), name: z.string() })
    .nullable()
    .describe('the Kubernetes Service'),
  services: list(z.string()).describe('OpenTelemetry service names in the trace'),
  spent: list(
    z.object({
      where: z
        .enum(['API server', 'store', 'Sluice', 'writer queue', 'bus', 'waiting'])
        .describe('waiting: for a plan in flight or a batch period'),
      ms: duration,
    }),
  ).describe('where the time went from the first cause to the last response of the API server, largest first'),
  spans: list(spanView),
});
export type TraceView = z.infer<typeof traceView>;

/** An error response. */
export const problem = z.object({ error: z.string(), hint: z.string().optional() });
