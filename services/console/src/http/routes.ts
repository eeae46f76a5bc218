import type { ServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { errorMessage } from '@sluice/runtime';
import { z } from 'zod';
import type { DoneEntry, Entry } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { ConsoleSources } from '../ports.ts';
import { detail, podDetail } from '../view/detail.ts';
import type { Directory } from '../view/directory.ts';
import { paced } from '../view/paced.ts';
import type { RecentChange } from '../view/schemas.ts';
import * as schemas from '../view/schemas.ts';
import { at, none, ofService, pastOf, text } from './parameters.ts';
import { Problem } from './problem.ts';

/** What the routes read from. */
export interface RouteContext {
  readonly history: History;
  readonly directory: Directory;
  readonly sources: ConsoleSources;
  readonly now: () => number;
  readonly clock: Clock;
  readonly version: string;
  readonly jaeger: string | null;
  /** Logs of which older records are still being read. */
  readonly behind: () => number;
}

export interface Route {
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly answer: z.ZodType;
  readonly handle: (
    context: RouteContext,
    params: Record<string, unknown>,
    query: Record<string, unknown>,
  ) => unknown | Promise<unknown>;
}

const services = z.object({
  cluster: text.optional().describe('identity or name of a cluster'),
  namespace: text.optional(),
  q: text.optional().describe('part of NAMESPACE/NAME'),
  status: schemas.serviceStatus.optional(),
  sort: z.enum(['name', 'changed', 'ready', 'latency']).default('name'),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

const historyQuery = pastOf.extend({
  limit: z.coerce.number().int().min(1).max(5_000).default(500),
});

/** Types the handler by its schemas; what comes in was checked by them. */
function route<P extends z.ZodObject, Q extends z.ZodObject, A extends z.ZodType>(
  path: string,
  summary: string,
  params: P,
  query: Q,
  answer: A,
  handle: (context: RouteContext, params: z.infer<P>, query: z.infer<Q>) => z.infer<A> | Promise<z.infer<A>>,
): Route {
  return { path, summary, params, query, answer, handle: handle as Route['handle'] };
}

export const routes: readonly Route[] = [
  route('/api/v1/overview', 'what this console knows', none, none, schemas.overview, (context) => ({
    version: context.version,
    now: context.now(),
    since: context.history.since ?? null,
    retentionMs: context.history.retentionMs,
    historyBytes: context.history.bytes,
    behind: context.behind(),
    clusters: clusters(context),
    jaeger: context.jaeger,
    traces: context.sources.trace !== undefined,
  })),
  route('/api/v1/services', 'Services, one line each', none, services, schemas.serviceList, ({ directory }, _, query) =>
    directory.list(query),
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service',
    'a Service with its Pods and slices, and why they are so, now or at a time',
    ofService,
    at,
    schemas.serviceDetail,
    (context, params, query) => {
      const journal = findJournal(context, params);
      const { state, entries, moment } = stateOf(context, journal, query.at);
      return detail(state, entries, context.directory.summary(journal).clusterName, moment);
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/history',
    'what was observed, decided and written for a Service',
    ofService,
    historyQuery,
    schemas.historyView,
    (context, params, { limit, ...past }) => {
      const entries = findJournal(context, params).entries.filter(wantedEntries(past));
      return {
        since: context.history.since ?? context.now(),
        retentionMs: context.history.retentionMs,
        total: entries.length,
        entries: entries.slice(-limit),
      };
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/pods/:pod',
    'where a Pod stands in the slices of a Service, and why',
    ofService.extend({ pod: text }),
    at,
    schemas.podExplanation,
    (context, params, query) => {
      const { state, entries } = stateOf(context, findJournal(context, params), query.at);
      return podDetail(state, entries, params.pod);
    },
  ),
  route(
    '/api/v1/changes',
    'the last writes of all Services, newest first',
    none,
    z.object({ limit: z.coerce.number().int().min(1).max(500).default(50) }),
    z.object({ items: z.array(schemas.recentChange).readonly() }),
    async (context, _, { limit }) => ({ items: await recent(context, limit) }),
  ),
  route(
    '/api/v1/partitions',
    'who works on what',
    none,
    none,
    z.object({ items: z.array(schemas.partitionView).readonly() }),
    async ({ sources }) => ({ items: (await sources.partitions?.()) ?? notHere('partitions and their owners') }),
  ),
  route(
    '/api/v1/parked',
    'what the API server refuses for good, until something changes',
    none,
    none,
    z.object({ items: z.array(schemas.parkedView).readonly() }),
    async (context) => ({ items: (await parked(context)) ?? (await refused(context)) }),
  ),
  route(
    '/api/v1/traces/:trace',
    'a trace as Jaeger has it, each span below its parent',
    z.object({ trace: z.string().regex(/^[0-9a-f]{32}$/, 'a trace id has 32 hexadecimal digits') }),
    none,
    schemas.traceView,
    (context, { trace }) => traceOf(context, trace),
  ),
  route(
    '/api/v1/dead-letters',
    'records that nobody could make sense of',
    none,
    none,
    z.object({ items: z.array(schemas.deadLetterView).readonly() }),
    async ({ sources }) => ({ items: (await sources.deadLetters?.()) ?? notHere('dead letters') }),
  ),
];

async function traceOf({ sources }: RouteContext, traceId: string) {
  if (sources.trace === undefined) {
    throw new Problem(404, 'no traces are read here', '--jaeger-query-url says where Jaeger is asked for them');
  }
  const trace = await sources.trace(traceId).catch((error: unknown) => {
    const reason = errorMessage(error);
    throw new Problem(502, `cannot read the trace from Jaeger: ${reason}`, 'everything else works without Jaeger');
  });
  if (trace !== null) return trace;
  const hint = 'spans come to it a second or two after they are over; it keeps them for as long as it is told to';
  throw new Problem(404, `Jaeger has no trace ${traceId}`, hint);
}

function notHere(what: string): never {
  throw new Problem(404, `there are no ${what} here`, 'a fleet has them: sluice console --help');
}

/** @throws Problem with what there is, if there is no history for the Service */
export function findJournal({ history, sources }: RouteContext, params: z.infer<typeof ofService>): Journal {
  const { cluster, namespace, service } = params;
  const identity = sources.clusters().find(({ name }) => name === cluster)?.identity ?? cluster;
  const key: ServiceKey = { cluster: identity, namespace, service };
  const journal = history.get(key);
  if (journal !== undefined) return journal;
  const alike = [...history.journals]
    .map((other) => other.key)
    .filter((other) => other.service === service || other.namespace === namespace)
    .slice(0, 5)
    .map((other) => `${other.namespace}/${other.service}`);
  const hint = alike.length > 0 ? `there is: ${alike.join(', ')}` : 'GET /api/v1/services lists what there is';
  const name = sources.clusters().find((one) => one.identity === identity)?.name ?? cluster;
  throw new Problem(404, `no history for Service ${namespace}/${service} in cluster ${name}`, hint);
}

function stateOf({ history, now }: RouteContext, journal: Journal, at: number | undefined) {
  const time = at ?? now();
  const since = history.since ?? time;
  if (at === undefined || at >= now()) {
    return { state: journal.state, entries: journal.entries, moment: { at: time, live: true } };
  }
  if (at < since) {
    throw new Problem(404, `the history begins at ${new Date(since).toISOString()}`, 'ask for a later time');
  }
  const entries = journal.entries.filter((entry) => entry.at <= at);
  return { state: journal.stateAt(at), entries, moment: { at, live: false } };
}

/** Which entries are asked for. */
export function wantedEntries({ since = 0, until = Number.POSITIVE_INFINITY, pod }: z.infer<typeof pastOf>) {
  return (entry: Entry): boolean =>
    entry.at >= since && entry.at <= until && (pod === undefined || concerns(entry, pod));
}

function concerns(entry: Entry, pod: string): boolean {
  switch (entry.kind) {
    case 'seen':
      return entry.news.some((news) => news.of === 'pod' && news.name === pod);
    case 'decided':
      return entry.mutations.some(({ endpoints }) => endpoints.some((change) => change.pod === pod));
    case 'done':
      return entry.endpoints.some((change) => change.pod === pod);
  }
}

function clusters({ history, sources }: RouteContext) {
  const services = new Map<string, number>();
  for (const { key } of history.journals) services.set(key.cluster, (services.get(key.cluster) ?? 0) + 1);
  const known = sources.clusters();
  const others = [...services.keys()].filter((identity) => !known.some((cluster) => cluster.identity === identity));
  return [
    ...known,
    ...others.map((identity) => ({ identity, name: identity, version: '', server: '', state: 'not known here' })),
  ].map((cluster) => ({ ...cluster, services: services.get(cluster.identity) ?? 0 }));
}

/** Replays only Services with records newer than the oldest write in the answer. */
async function recent({ history, directory, clock }: RouteContext, limit: number) {
  let changes: RecentChange[] = [];
  const newestFirst = [...history.journals].sort((a, b) => b.lastKeptAt - a.lastKeptAt);
  for await (const journal of paced(newestFirst, clock)) {
    if (changes.length >= limit && (changes[limit - 1]?.at ?? 0) > journal.lastKeptAt) break;
    const { key } = journal;
    const done = journal.entries.filter((entry): entry is DoneEntry => entry.kind === 'done').slice(-limit);
    if (done.length === 0) continue;
    changes = [...changes, ...done.map((entry) => directory.change(key, entry))].sort((a, b) => b.at - a.at);
    changes.length = Math.min(changes.length, limit);
  }
  return changes;
}

async function parked({ sources }: RouteContext) {
  const names = new Map(sources.clusters().map(({ identity, name }) => [identity, name]));
  const items = await sources.parked?.();
  return items?.map((item) => ({ ...item, clusterName: names.get(item.cluster) ?? item.cluster }));
}

async function refused({ history, directory }: RouteContext) {
  await directory.catchUp();
  return [...history.journals].flatMap((journal) =>
    [...journal.state.refused].map(([controller, { message, since }]) => {
      const { cluster, namespace, service: name } = journal.key;
      return {
        cluster,
        clusterName: directory.summary(journal).clusterName,
        namespace,
        name,
        controller,
        message,
        since,
        nextTryAt: null,
      };
    }),
  );
}
