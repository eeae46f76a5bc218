import { errorMessage } from '@sluice/platform';
import type { Recording } from '@sluice/recording';
import { z } from 'zod';
import { parseLabelSelector } from '../view/label-selector.ts';
import * as schemas from '../view/schemas.ts';
import { viewPod, viewService } from '../view/view-service.ts';
import { writesIn } from '../view/writes-in.ts';
import { activityRoute } from './activity-route.ts';
import { findEntries, findJournal, findMoment } from './find-journal.ts';
import { knownClusters } from './known-clusters.ts';
import { logicalServiceRoutes } from './logical-service-routes.ts';
import { outageOf, Problem } from './problem.ts';
import { recordingRoutes } from './recording-routes.ts';
import { items, limit, listRoute, type Route, route } from './route.ts';
import { atTime, historyFilter, noParams, type RouteContext, serviceParams, text } from './route-context.ts';

const serviceQuery = z.object({
  cluster: text.optional().describe('UID or name of a cluster'),
  namespace: text.optional(),
  q: text.optional().describe('substring of NAMESPACE/NAME'),
  labelSelector: text
    .refine((selector) => parseLabelSelector(selector) !== undefined, 'is no label selector')
    .optional()
    .describe('labels of the Service, e.g. app=web,tier!=front'),
  status: schemas.serviceStatus.optional().describe('default: every status except deleted'),
  group: z.enum(['namespace']).optional().describe('keeps Services of a namespace together'),
  sort: z.enum(['name', 'problem', 'changed', 'ready', 'latency']).default('name'),
  offset: z.coerce.number().int().min(0).default(0),
  limit: limit(1_000, 100),
});

export const routes: readonly Route[] = [
  route(
    '/api/v1/overview',
    'services',
    'state of this console',
    noParams,
    noParams,
    schemas.overview,
    async (context) => ({
      version: context.version,
      now: context.now(),
      ...(await recordedOverview(context)),
      retentionMs: context.history.retentionMs,
      historyBytes: context.history.bytes,
      ...(context.history.servicesLimit !== undefined && { servicesLimit: context.history.servicesLimit }),
      behind: context.behind(),
      clusters: knownClusters(context),
      outage: context.sources.outage?.() ?? null,
      storeProblems: context.sources.storeProblems?.() ?? [],
      fleet: context.sources.partitions !== undefined,
      jaeger: context.jaeger,
      traces: context.sources.trace !== undefined,
    }),
  ),
  route(
    '/api/v1/services',
    'services',
    'Services',
    noParams,
    serviceQuery,
    schemas.serviceList,
    ({ index, history }, _, query) => index.list(query, history),
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service',
    'service',
    'a Service with its Pods and slices, now or at a past time',
    serviceParams,
    atTime,
    schemas.serviceDetail,
    async (context, params, query) => {
      const { journal, ...moment } = await findMoment(context, params, query.at);
      const outage = outageOf(context, journal.key.cluster, moment);
      const { cluster } = journal.key;
      const sees = (namespace: string) => context.history.sees?.({ cluster, namespace }) ?? true;
      const joinedAs = context.history.logicalServices.nameOf(journal.key) ?? null;
      const { clusterName } = context.index.summary(journal);
      return { ...viewService(moment, clusterName, context.degraded, sees), joinedAs, outage };
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/history',
    'service',
    'what was observed, decided and written for a Service',
    serviceParams,
    historyFilter.extend({ limit: limit(5_000, 500) }),
    schemas.historyView,
    async (context, params, query) => {
      const { key, entries, unreadable } = await findEntries(context, params, query);
      return {
        outage: outageOf(context, key.cluster, { at: context.now(), live: true }),
        ...(await coverage(context, unreadable)),
        retentionMs: context.history.retentionMs,
        total: entries.length,
        entries: entries.slice(-query.limit),
      };
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/log',
    'service',
    'the messages from which the state of a Service follows',
    serviceParams,
    noParams,
    schemas.serviceLog,
    (context, params) => {
      const { isComplete, messages } = findJournal(context, params).log;
      return { complete: isComplete, messages: messages.map((message) => ({ ...message })) };
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/pods/:pod',
    'service',
    'endpoints of a Pod in the slices of a Service, and why',
    serviceParams.extend({ pod: text }),
    atTime,
    schemas.podDetail,
    async (context, params, query) => {
      const { journal, ...moment } = await findMoment(context, params, query.at);
      return { ...viewPod(moment, params.pod), outage: outageOf(context, journal.key.cluster, moment) };
    },
  ),
  route(
    '/api/v1/changes',
    'services',
    'the last writes of all Services, newest first',
    noParams,
    z.object({ limit: limit(500, 50) }),
    items(schemas.recentChange),
    async (context, _, query) => ({ items: await recentChanges(context, query.limit) }),
  ),
  activityRoute,
  ...logicalServiceRoutes,
  ...recordingRoutes,
  listRoute(
    '/api/v1/partitions',
    'fleet',
    'owner and lag of each partition',
    schemas.partitionView,
    async ({ sources }) =>
      sources.partitions === undefined ? unavailable('partitions') : answered(sources, sources.partitions),
  ),
  listRoute('/api/v1/parked', 'services', 'writes that the API server refuses', schemas.parkedView, parked),
  route(
    '/api/v1/traces/:trace',
    'services',
    'a trace from Jaeger, each span below its parent',
    z.object({ trace: z.string().regex(/^[0-9a-f]{32}$/, 'a trace id has 32 hexadecimal digits') }),
    noParams,
    schemas.traceView,
    (context, { trace }) => readTrace(context, trace),
  ),
  listRoute(
    '/api/v1/dead-letters',
    'clusters',
    'records that cannot be processed',
    schemas.deadLetterView,
    async ({ sources }) =>
      sources.deadLetters === undefined ? unavailable('dead letters') : answered(sources, sources.deadLetters),
  ),
];

/** What the history covers. */
async function coverage(context: RouteContext, ofRead: readonly string[] = []) {
  return covered(context, await recorded(context), ofRead);
}

/** With the period of the recording; null: there is none. */
async function recordedOverview(context: RouteContext) {
  const found = await recorded(context);
  const [first, last] = [found.periods[0], found.periods.at(-1)];
  const recording =
    first === undefined || last === undefined ? null : { from: first.from, to: last.to, isRedacted: found.isRedacted };
  return { ...covered(context, found), recording };
}

type Recorded = Awaited<ReturnType<Recording['coverage']>>;

function covered(
  { history, now }: RouteContext,
  { periods, gaps, unreadable }: Recorded,
  ofRead: readonly string[] = [],
) {
  return {
    since: periods[0]?.from ?? history.since ?? now(),
    gaps,
    unreadable: [...new Set([...unreadable, ...ofRead])],
  };
}

async function recorded({ sources: { recording } }: RouteContext): Promise<Recorded> {
  if (recording === undefined) return { periods: [], gaps: [], unreadable: [], isRedacted: false };
  return recording.coverage().catch((error: unknown) => ({
    periods: [],
    gaps: [],
    unreadable: [`the recording does not answer: ${errorMessage(error)}`],
    isRedacted: false,
  }));
}

function unavailable(what: string): never {
  throw new Problem(404, `this console has no ${what}`, 'only a fleet has them; see sluice console --help');
}

/** Reads from the store at once, or says that it does not answer, which the history does not need. */
function answered<T>(sources: RouteContext['sources'], read: () => Promise<T>): Promise<T> {
  const outage = sources.outage?.() ?? null;
  if (outage === null) return read();
  const { what, since, reason } = outage;
  const text = `${what} has not answered since ${new Date(since).toISOString()} (${reason})`;
  throw new Problem(503, text, 'explain and history show the state from before');
}

async function readTrace({ sources }: RouteContext, traceId: string) {
  if (sources.trace === undefined) {
    throw new Problem(404, 'this console shows no traces', 'pass --jaeger-query-url');
  }
  const trace = await sources.trace(traceId).catch((error: unknown) => {
    const reason = errorMessage(error);
    throw new Problem(502, `cannot read the trace from Jaeger: ${reason}`, 'everything else works without Jaeger');
  });
  if (trace !== null) return trace;
  const hint = 'spans reach Jaeger one or two seconds after they end, and it deletes them after its retention';
  throw new Problem(404, `Jaeger has no trace ${traceId}`, hint);
}

/** Replays only Services with records newer than the oldest write in the result. */
async function recentChanges({ history, index, budget }: RouteContext, count: number) {
  let changes: schemas.RecentChange[] = [];
  const newestFirst = [...history.journals].sort((a, b) => b.lastReceivedAt - a.lastReceivedAt);
  for await (const journal of budget.iterate(newestFirst)) {
    if ((changes[count - 1]?.at ?? 0) > journal.lastReceivedAt) break;
    const { key, entries } = journal;
    const writes = entries.flatMap(writesIn).slice(-count);
    changes = [...changes, ...writes.map((write) => index.recentChange(key, write))]
      .sort((a, b) => b.at - a.at)
      .slice(0, count);
  }
  return changes;
}

async function parked({ sources, history, index }: RouteContext) {
  if (sources.parked !== undefined) {
    const names = new Map(sources.clusters().map(({ identity, name }) => [identity, name]));
    return (await answered(sources, sources.parked)).map(({ key, controller, reason, since, nextTryAt }) => {
      const { cluster, namespace, service: name } = key;
      const clusterName = names.get(cluster) ?? cluster;
      return { cluster, clusterName, namespace, name, controller, message: reason, since, nextTryAt };
    });
  }
  await index.refresh(history);
  return [...history.journals].flatMap((journal) => {
    const { cluster, clusterName, namespace, name } = index.summary(journal);
    return [...journal.state.refused].map(([controller, { message, since }]) => ({
      cluster,
      clusterName,
      namespace,
      name,
      controller,
      message,
      since,
      nextTryAt: journal.state.state.controller(controller).timers.dueAt,
    }));
  });
}
