import { formatServiceKey, parseServiceKey } from '@sluice/messages';
import type { PodTimeline, Recording, ServiceProblem } from '@sluice/recording';
import { findProblems, outagesOf, repeatedReasons } from '@sluice/recording/problems';
import { z } from 'zod';
import { countProblems } from '../view/count-problems.ts';
import * as schemas from '../view/schemas.ts';
import { summarizeDisruption } from '../view/summarize-disruption.ts';
import { defaultProxyDelayMs, summarizeDrain } from '../view/summarize-drain.ts';
import { keyOf, missingNode } from './find-journal.ts';
import { Problem } from './problem.ts';
import { problemsOverClusters } from './problems-over-clusters.ts';
import { items, limit, type Route, route } from './route.ts';
import { noParams, period, type RouteContext, serviceParams, text } from './route-context.ts';

/** A period, and the Services in question. */
const scope = {
  ...period,
  cluster: text.optional().describe('UID or name'),
  namespace: text.optional(),
  service: text.optional(),
};
const scopeQuery = z.object(scope);
type Scope = z.infer<typeof scopeQuery>;
const milliseconds = z.coerce
  .number()
  .int()
  .min(0)
  .max(7 * 86_400_000);

/** Questions about all Services, which a recording answers. */
export const recordingRoutes: readonly Route[] = [
  route(
    '/api/v1/outages',
    'services',
    'when Services had no ready endpoint, oldest first',
    noParams,
    scopeQuery,
    items(schemas.serviceOutage),
    async (context, _, query) => {
      const { recording, from, to } = asked(context, query);
      // An outage may start as another problem before the period.
      const { problems } = await recording.problems({ from: 0, to, isOpen: false });
      return { items: named(context, query, outagesOf(problems, { from, to })) };
    },
  ),
  route(
    '/api/v1/problems',
    'services',
    'what is or was wrong with Services, the most severe first',
    noParams,
    z.object({
      ...scope,
      open: z.stringbool().default(false).describe('only those that continue now, or at the end of the recording'),
      all: z.stringbool().default(false).describe('also those that have lasted no longer than usual changes'),
    }),
    items(schemas.serviceProblem),
    async (context, _, query) => {
      const { recording, from, to, keys, isAtEnd } = await askedUntilEnd(context, query);
      const wanted = { from, to, keys, isAtEnd, isOpen: query.open, all: query.all };
      const { problemRules: rules } = context.sources;
      const { history, sources, logicalServices: index, lostClusters: policy } = context;
      const overClusters = (open: readonly ServiceProblem[]) =>
        problemsOverClusters({ history, sources, index, policy }, open, context.now());
      return { items: named(context, query, await findProblems(recording, wanted, { rules, overClusters })) };
    },
  ),
  route(
    '/api/v1/problem-counts',
    'services',
    'how many problems each cluster had, by time and severity',
    noParams,
    z.object({ ...scope, stepMs: z.coerce.number().int().min(1_000).default(900_000).describe('of a bucket') }),
    schemas.problemCounts,
    async (context, _, query) => {
      const { recording, start, to, keys, isAtEnd } = await askedUntilEnd(context, query);
      const { since = start } = query;
      const until = Math.max(since, to);
      if ((until - since) / query.stepMs > maxBuckets)
        throw new Problem(400, `more than ${maxBuckets} buckets`, 'ask for a shorter period, or set a larger stepMs');
      const wanted = { from: since, to: until, keys, isAtEnd, isOpen: false, all: false };
      const found = (await findProblems(recording, wanted, { rules: context.sources.problemRules })).map((one) =>
        repeatedReasons.includes(one.reason) ? { ...one, from: until } : one,
      );
      const clusters = context.sources
        .clusters()
        .filter(({ identity, name }) => query.cluster === undefined || [identity, name].includes(query.cluster))
        .map(({ identity: cluster, name: clusterName }) => ({ cluster, clusterName }));
      const buckets = { since, until, stepMs: query.stepMs };
      return { ...buckets, clusters: countProblems(named(context, query, found), clusters, buckets) };
    },
  ),
  route(
    '/api/v1/propagations',
    'services',
    'how long slices and Endpoints took to show changes of Pods',
    noParams,
    z.object({
      ...scope,
      atLeastMs: milliseconds.default(0).describe('minimum duration in milliseconds'),
      open: z.stringbool().default(false).describe('only those that continue now, or at the end of the recording'),
      sort: z.enum(['longest', 'latest']).default('longest').describe('latest: those that ended last come first'),
      startKnown: z.stringbool().default(false).describe('only those whose start is known'),
      limit: limit(1_000, 20),
    }),
    items(schemas.propagation),
    async (context, _, query) => {
      const { recording, ...question } = asked(context, query);
      const { atLeastMs, open: isOpen, startKnown: isStartKnown, sort, limit } = query;
      const wanted = { ...question, atLeastMs, isOpen, isStartKnown, sort, limit };
      const { propagations } = await recording.propagations(wanted);
      return { items: named(context, query, propagations) };
    },
  ),
  route(
    '/api/v1/services/:cluster/:namespace/:service/rollout',
    'service',
    'how the Pods of a Service were over a period',
    serviceParams,
    z.object(period),
    schemas.rollout,
    async (context, params, { since = 0, until = context.now() }) => {
      const { cluster, namespace, service } = keyOf(context, params);
      const key = formatServiceKey({ cluster, namespace, service });
      const { pods, ...covered } = await recordingOf(context).pods(key, { from: since, to: until }, maxRecords);
      if (pods.length === 0) throw new Problem(404, `no Pods of ${namespace}/${service} are recorded in this period`);
      const startOf = ({ spans }: PodTimeline) => spans[0]?.from ?? until;
      const owners = Map.groupBy(pods, ({ owner }) => owner);
      const byStart = [...owners.values()].map((group) => group.toSorted((a, b) => startOf(a) - startOf(b)));
      byStart.sort(([a], [b]) => (a && b ? startOf(a) - startOf(b) : 0));
      return { from: covered.from, to: covered.to, pods: byStart.flat() };
    },
  ),
  route(
    '/api/v1/readiness-changes',
    'services',
    'how often Pods became ready or not ready, most often first',
    noParams,
    z.object({ ...scope, limit: limit(1_000, 20) }),
    items(schemas.readinessChanges),
    async (context, _, query) => {
      const { recording, ...question } = asked(context, query);
      const { pods } = await recording.readinessChanges({ ...question, limit: query.limit });
      return { items: named(context, query, pods) };
    },
  ),
  route(
    '/api/v1/drains',
    'services',
    'how long Services take to stop sending traffic to a Pod that is deleted, slowest first',
    noParams,
    z.object({
      ...scope,
      proxyDelayMs: milliseconds
        .default(defaultProxyDelayMs)
        .describe('assumed time from the slices to the rules of the last proxy'),
    }),
    items(schemas.drain),
    async (context, _, query) => {
      const { recording, ...question } = asked(context, query);
      const { removals } = await recording.removals(question);
      const samples = [...removals].map(([key, times]) => ({ key, times }));
      const drains: schemas.DrainView[] = [];
      // To know the Pods of a Service replays its records.
      for await (const sample of context.budget.iterate(named(context, query, samples))) {
        const { cluster, namespace, name: service } = sample;
        const pods = context.history.get({ cluster, namespace, service })?.state.pods.values() ?? [];
        drains.push(
          summarizeDrain(
            sample,
            Array.from(pods, ({ pod }) => pod),
            query.proxyDelayMs,
          ),
        );
      }
      return { items: drains.sort((a, b) => b.p99Ms - a.p99Ms) };
    },
  ),
  route(
    '/api/v1/node-disruptions',
    'clusters',
    'when Nodes were not ready, cordoned, evicted their Pods or were deleted, and what it did to Services, oldest first',
    noParams,
    z.object({ ...scope, node: text.optional(), limit: limit(1_000, 20).describe('the last ones') }),
    items(schemas.nodeDisruption),
    async (context, _, query) => {
      const { recording, ...question } = asked(context, query);
      const { node, limit } = query;
      const { disruptions, isKnown } = await recording.nodeDisruptions({ ...question, node, limit });
      if (node !== undefined && !isKnown) await checkNode(context, node, query.cluster);
      const names = clusterNames(context);
      const until = Math.min(question.to, context.now());
      const named = (one: string) => ({ clusterName: names.get(one) ?? one, until });
      return { items: disruptions.map((one) => summarizeDisruption(one, named(one.cluster))) };
    },
  ),
];

/** @throws Problem with similar Nodes if no Pod is on the Node */
async function checkNode({ history, sources, budget }: RouteContext, node: string, cluster?: string): Promise<void> {
  const nodes = new Set<string>();
  const identity = identityOf({ sources }, cluster);
  for await (const { key, state } of budget.iterate(history.journals)) {
    if (identity !== undefined && identity !== key.cluster) continue;
    for (const { pod } of state.pods.values()) if (pod.nodeName !== '') nodes.add(pod.nodeName);
  }
  if (!nodes.has(node)) missingNode(node, nodes);
}

/** Reading more would take seconds. */
const maxRecords = 20_000;
const maxBuckets = 1_000;

interface Asked {
  readonly recording: Recording;
  readonly from: number;
  readonly to: number;
  readonly keys: string;
}

function asked({ sources }: RouteContext, { since = 0, until, cluster, namespace, service }: Scope): Asked {
  const recording = recordingOf({ sources });
  const identity = identityOf({ sources }, cluster);
  const keys = [identity, namespace, service].map((part) => part ?? '%').join('/');
  return { recording, from: since, to: until ?? Number.MAX_SAFE_INTEGER, keys };
}

interface AskedUntilEnd extends Asked {
  /** Of the recording. */
  readonly start: number;
  /** The period reaches the end of the recording. */
  readonly isAtEnd: boolean;
}

/** What continues at the end of the recording has lasted until then. */
async function askedUntilEnd(context: RouteContext, query: Scope): Promise<AskedUntilEnd> {
  const question = asked(context, query);
  const { periods } = await question.recording.coverage();
  const [start, end] = [periods[0]?.from ?? context.now(), periods.at(-1)?.to ?? context.now()];
  return { ...question, start, to: Math.min(question.to, end), isAtEnd: question.to >= end };
}

/** Of a cluster that is given by name or identity. */
const identityOf = ({ sources }: Pick<RouteContext, 'sources'>, cluster: string | undefined): string | undefined =>
  sources.clusters().find(({ name }) => name === cluster)?.identity ?? cluster;

/** By identity. */
const clusterNames = ({ sources }: Pick<RouteContext, 'sources'>): ReadonlyMap<string, string> =>
  new Map(sources.clusters().map(({ identity, name }) => [identity, name]));

function recordingOf({ sources: { recording } }: Pick<RouteContext, 'sources'>): Recording {
  if (recording !== undefined) return recording;
  const hint = '"sluice observe" and "sluice open" have one, "sluice run" and "sluice console" with --recording-dir';
  throw new Problem(404, 'this console has no recording', hint);
}

/** Replaces keys by names, and leaves those that do not match out. */
function named<T extends { readonly key: string }>(
  context: RouteContext,
  { cluster, namespace, service }: Scope,
  found: readonly T[],
): readonly (Omit<T, 'key'> & schemas.NamedService)[] {
  const names = clusterNames(context);
  return found.flatMap(({ key: text, ...rest }) => {
    const key = parseServiceKey(text);
    const clusterName = names.get(key.cluster) ?? key.cluster;
    if (cluster !== undefined && cluster !== key.cluster && cluster !== clusterName) return [];
    if (namespace !== undefined && namespace !== key.namespace) return [];
    if (service !== undefined && service !== key.service) return [];
    return [{ cluster: key.cluster, clusterName, namespace: key.namespace, name: key.service, ...rest }];
  });
}
