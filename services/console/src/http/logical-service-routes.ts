import type { DescribeOptions } from '@sluice/logical-services';
import { z } from 'zod';
import * as schemas from '../view/schemas.ts';
import { clusterStatuses } from './known-clusters.ts';
import { Problem } from './problem.ts';
import { limit, type Route, route } from './route.ts';
import { noParams, type RouteContext, text } from './route-context.ts';

const without = text.optional().describe('UID or name of a cluster that counts as lost');

/** Services over all clusters. */
export const logicalServiceRoutes: readonly Route[] = [
  route(
    '/api/v1/logical-services',
    'services',
    'Services joined over all clusters by namespace and name',
    noParams,
    z.object({
      namespace: text.optional(),
      q: text.optional().describe('substring of NAMESPACE/NAME'),
      condition: schemas.conditionType.optional(),
      severity: z
        .enum(['critical', 'warning', 'info'])
        .optional()
        .describe('only Services with a condition at least as severe'),
      without,
      maxClusters: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('with more clusters than this, `clusters` of each Service is empty'),
      sort: z.enum(['name', 'severity']).default('severity'),
      offset: z.coerce.number().int().min(0).default(0),
      limit: limit(1_000, 100),
    }),
    schemas.logicalServiceList,
    (context, _, query) => {
      const options = describeOptions(context, query.without);
      return context.logicalServices.list(context.history.logicalServices, query, options);
    },
  ),
  route(
    '/api/v1/logical-services/:namespace/:service',
    'services',
    'a Service over all clusters: endpoints by zone, differences, and what the loss of a cluster means',
    z.object({ namespace: text, service: text }),
    z.object({ without }),
    schemas.logicalServiceDetail,
    (context, { namespace, service }, query) => {
      const options = describeOptions(context, query.without);
      const found = context.history.logicalServices.get(namespace, service);
      if (found === undefined) throw new Problem(404, `no cluster has a Service ${namespace}/${service}`);
      return context.logicalServices.detail(found, options);
    },
  ),
];

/** @throws Problem if there is no cluster of that name */
function describeOptions(context: RouteContext, without: string | undefined): DescribeOptions {
  const clusters = clusterStatuses(context);
  const options = { clusters, policy: context.lostClusters, now: context.now() };
  if (without === undefined) return options;
  const lost = clusters.filter(({ identity, name }) => identity === without || name === without);
  if (lost.length === 0) {
    const names = clusters.map(({ name }) => name);
    throw new Problem(404, `no cluster ${without}`, `clusters: ${names.slice(0, 10).join(', ')}`);
  }
  return { ...options, without: new Set(lost.map(({ identity }) => identity)) };
}
