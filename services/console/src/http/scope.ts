import type { Decision } from '../access/access-decisions.ts';
import type { Place, Reader } from '../access/reader.ts';
import type { History } from '../history/history.ts';
import { keyOf } from './find-journal.ts';
import { Problem } from './problem.ts';
import { restrictHistory, restrictSources } from './restrict.ts';
import { type RouteContext, serviceParams } from './route-context.ts';

/**
 * What a route is about. `service`: the Service in its path. `services`: those of all namespaces. `clusters`: objects of whole
 * clusters, such as Nodes. `fleet`: all clusters together. Of `services` and `clusters`, what a reader may not see is left out.
 */
export type Scope = 'service' | 'services' | 'clusters' | 'fleet';

/** The context of a console that shows everything. */
export interface FullContext extends RouteContext {
  readonly history: History;
}

type Given = Readonly<Record<string, unknown>>;

const decide: Readonly<Record<Scope, (context: FullContext, reader: Reader, given: Given) => Promise<void>>> = {
  service: decideService,
  services: decideServices,
  clusters: decideWhole,
  async fleet(_, reader) {
    await reader.decideClusters();
    if (reader.seesFleet) return;
    if (reader.unanswered > 0) throw unanswered('whether you may list the EndpointSlices of every cluster');
    throw forbidden('in all namespaces of every cluster');
  },
};

/**
 * The context for one request of a reader, which contains only what the reader may see.
 *
 * @throws Problem if the reader may see nothing of what the request names, or an API server does not answer
 */
export async function restrict(
  context: FullContext,
  reader: Reader,
  scope: Scope,
  given: Given,
): Promise<RouteContext> {
  await decide[scope](context, reader, given);
  const {
    history,
    sources,
    index,
    logicalServices,
    lostClusters,
    degraded,
    now,
    clock,
    budget,
    version,
    jaeger,
    behind,
  } = context;
  const sees =
    scope === 'clusters' ? ({ cluster }: Place) => reader.seesCluster(cluster) : (place: Place) => reader.sees(place);
  return {
    history: restrictHistory(history, sees),
    sources: restrictSources(sources, reader),
    ...{ index, logicalServices, lostClusters, degraded, now, clock, budget, version, jaeger, behind },
  };
}

async function decideService(context: FullContext, reader: Reader, params: Given): Promise<void> {
  const given = serviceParams.parse(params);
  const place = keyOf(context, given);
  await reader.decide([place]);
  const known = context.sources.clusters().find(({ identity }) => identity === place.cluster);
  const name = known !== undefined && reader.knowsCluster(known.identity) ? known.name : given.cluster;
  check([reader.decisionOf(place)], `in namespace ${given.namespace} of cluster ${name}`);
}

/** Without what the query names, a list would look as if there were nothing. */
async function decideServices(context: FullContext, reader: Reader, query: Given): Promise<void> {
  const { cluster, namespace } = named.parse(query);
  const clusters = await decideClusters(context, reader, cluster);
  const of = cluster === undefined ? '' : ` of cluster ${cluster}`;
  if (namespace !== undefined) {
    const places = clusters.map((one) => ({ cluster: one, namespace }));
    await reader.decide(places);
    check(
      places.map((place) => reader.decisionOf(place)),
      `in namespace ${namespace}${of}`,
    );
  } else if (!clusters.some((one) => reader.knowsCluster(one))) {
    check(
      clusters.map((one) => reader.decisionOf({ cluster: one })),
      `in any namespace${of}`,
    );
  }
  await reader.decide(Iterator.from(context.history.journals).map(({ key }) => key));
}

/** Nothing of a cluster is visible in part here, so that an answer without clusters would look as if there were nothing. */
async function decideWhole(context: FullContext, reader: Reader, query: Given): Promise<void> {
  const { cluster } = named.parse(query);
  const clusters = await decideClusters(context, reader, cluster);
  const where = `in all namespaces${cluster === undefined ? '' : ` of cluster ${cluster}`}`;
  check(
    clusters.map((one) => reader.decisionOf({ cluster: one })),
    where,
  );
}

/** Returns the named cluster, or all. */
async function decideClusters(context: FullContext, reader: Reader, cluster?: string): Promise<readonly string[]> {
  await reader.decideClusters();
  if (cluster === undefined) return reader.clusters;
  const { cluster: identity } = keyOf(context, { cluster, namespace: '', service: '' });
  await reader.decideClusters([identity]);
  return [identity];
}

const named = serviceParams.pick({ cluster: true, namespace: true }).partial();

/** @throws Problem unless one of the decisions allows what the request is about */
function check(decisions: readonly (Decision | undefined)[], where: string): void {
  if (decisions.includes('allowed')) return;
  if (decisions.includes('unanswered')) throw unanswered(`whether you may list EndpointSlices ${where}`);
  throw forbidden(where);
}

/** As of an API server, which decides before it looks: it does not tell whether there is such a namespace or Service. */
const forbidden = (where: string) =>
  new Problem(
    403,
    `your token does not allow to list endpointslices.discovery.k8s.io ${where}`,
    'ask for a Role or ClusterRole that allows it; "kubectl auth can-i list endpointslices.discovery.k8s.io" shows what you have',
  );

const unanswered = (what: string) =>
  new Problem(503, `cannot check ${what}: an API server does not answer`, 'try again once it does', retrySeconds);

const retrySeconds = 5;

/**
 * Recognizes the reader of a request.
 *
 * @throws Problem if no cluster accepts the token, or none answers
 */
export async function authenticate(reader: Reader): Promise<void> {
  const authentication = await reader.authentication();
  if (authentication === 'unanswered') throw unanswered('who you are');
  if (authentication === 'rejected')
    throw new Problem(
      401,
      'no cluster accepts the token',
      'get a new one, for example with "kubectl create token NAME"',
    );
}
