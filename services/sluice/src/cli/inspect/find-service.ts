import type { Overview } from '@sluice/console';
import type { ConsoleClient, ServiceName } from '@sluice/console/client';
import { AnswerError } from '@sluice/console/client';
import { UsageError } from '@sluice/process';

/** @throws UsageError if it is not NAMESPACE/SERVICE */
export function parseServiceName(text: string): Omit<ServiceName, 'cluster'> {
  const [namespace = '', service = '', ...more] = text.split('/');
  if (namespace !== '' && service !== '' && more.length === 0) return { namespace, service };
  throw new UsageError(
    `${JSON.stringify(text)} is not a Service name; expected NAMESPACE/SERVICE, for example shop/web`,
  );
}

/**
 * The Service with its cluster: the one that was asked for, else the only one that has it.
 *
 * @throws AnswerError if there is no such cluster, or several have the Service
 */
export async function findService(
  client: ConsoleClient,
  { clusters }: Overview,
  text: string,
  wanted: string | undefined,
): Promise<ServiceName> {
  const name = parseServiceName(text);
  const names = clusters.map((cluster) => cluster.name).join(', ');
  if (wanted !== undefined) {
    if (clusters.some((cluster) => cluster.name === wanted || cluster.identity === wanted)) {
      return { cluster: wanted, ...name };
    }
    throw new AnswerError(
      clusters.length === 0
        ? 'the console has no clusters yet'
        : `cluster ${wanted} not found; known clusters: ${names}`,
    );
  }
  const [only, ...others] = clusters;
  if (only === undefined) throw new AnswerError('the console has no clusters yet');
  if (others.length === 0) return { cluster: only.identity, ...name };
  const having = await clustersOf(client, name);
  const [one, ...more] = having;
  if (one !== undefined && more.length === 0) return { cluster: one.cluster, ...name };
  if (one !== undefined) {
    const several = having.map(({ clusterName }) => clusterName).join(', ');
    throw new AnswerError(`Service ${text} exists in several clusters; pass --cluster with one of: ${several}`);
  }
  throw new AnswerError(`no history for Service ${text} in any cluster; known clusters: ${names}`);
}

async function clustersOf(client: ConsoleClient, { namespace, service }: Omit<ServiceName, 'cluster'>) {
  const query = { namespace, q: `${namespace}/${service}`, limit: 1_000 };
  // Those that are gone are listed only when they are asked for.
  const lists = await Promise.all([client.services(query), client.services({ ...query, status: 'gone' })]);
  return lists.flatMap(({ items }) => items).filter((item) => item.name === service);
}
