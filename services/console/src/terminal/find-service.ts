import { systemClock, UsageError } from '@sluice/platform/process';
import { limitText } from '../../page/limit-text.ts';
import { type ConsoleClient, QueryError, type ServiceName } from '../client/console-client.ts';
import type { Overview } from '../view/schemas.ts';
import { outageText } from './times.ts';

/** Adds the namespace of `-n` to the name of a Service. @throws UsageError if both name a namespace */
export function qualified(service: string, namespace: string | undefined): string {
  if (namespace === undefined) return service;
  if (!service.includes('/')) return `${namespace}/${service}`;
  throw new UsageError(`${JSON.stringify(service)} already names a namespace; remove it or -n ${namespace}`);
}

/** @throws UsageError if `text` is not NAMESPACE/SERVICE */
export function parseServiceName(text: string): Omit<ServiceName, 'cluster'> {
  const [namespace = '', service = '', ...more] = text.split('/');
  if (namespace !== '' && service !== '' && more.length === 0) return { namespace, service };
  throw new UsageError(
    `${JSON.stringify(text)} is not a Service name; expected NAMESPACE/SERVICE, for example shop/web, or SERVICE with -n NAMESPACE`,
  );
}

/**
 * The Service in the given cluster, or in the only cluster that has it.
 *
 * @throws QueryError if the cluster is unknown, or none or several have the Service
 */
export async function findService(
  client: ConsoleClient,
  { clusters, servicesLimit }: Overview,
  text: string,
  wanted: string | undefined,
): Promise<ServiceName> {
  const name = parseServiceName(text);
  const names = clusters.map((cluster) => cluster.name).join(', ');
  if (wanted !== undefined) {
    const unanswered = clusters.find((cluster) => cluster.name === wanted && cluster.services === 0);
    if (unanswered?.outage !== undefined) {
      throw new QueryError(`${clusterOutageText(unanswered)}; this console has no history of it`);
    }
    if (clusters.some((cluster) => cluster.name === wanted || cluster.identity === wanted)) {
      return { cluster: wanted, ...name };
    }
    throw new QueryError(
      clusters.length === 0
        ? 'the console has no clusters yet'
        : `cluster ${wanted} not found; known clusters: ${names}`,
    );
  }
  const [only, ...others] = clusters;
  if (only === undefined) throw new QueryError('the console has no clusters yet');
  if (others.length === 0) return { cluster: only.identity, ...name };
  const matching = await clustersOf(client, name);
  const [one, ...more] = matching;
  if (one !== undefined && more.length === 0) return { cluster: one.cluster, ...name };
  if (one !== undefined) {
    const several = matching.map(({ clusterName }) => clusterName).join(', ');
    throw new QueryError(`Service ${text} exists in several clusters; pass --cluster with one of: ${several}`);
  }
  const outages = clusters.filter(({ outage }) => outage !== undefined).map(clusterOutageText);
  const limits = servicesLimit === undefined ? [] : [limitText(servicesLimit)];
  const hint = [`known clusters: ${names}`, ...limits, ...outages].join('\n');
  throw new QueryError(`no history for Service ${text} in any cluster; ${hint}`);
}

function clusterOutageText({ name, outage }: Overview['clusters'][number]): string {
  return outage === undefined ? '' : outageText({ what: name, ...outage }, systemClock.now());
}

async function clustersOf(client: ConsoleClient, { namespace, service }: Omit<ServiceName, 'cluster'>) {
  const query = { namespace, q: `${namespace}/${service}`, limit: 1_000 };
  // The list includes deleted Services only on request.
  const lists = await Promise.all([client.services(query), client.services({ ...query, status: 'deleted' })]);
  return lists.flatMap(({ items }) => items).filter((item) => item.name === service);
}
