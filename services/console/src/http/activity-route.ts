import { z } from 'zod';
import * as schemas from '../view/schemas.ts';
import { type ServiceWrites, summarizeActivity } from '../view/summarize-activity.ts';
import { writesIn } from '../view/writes-in.ts';
import { limit, type Route, route } from './route.ts';
import { noParams, period, type RouteContext, text } from './route-context.ts';

const query = z.object({
  ...period,
  cluster: text.optional().describe('UID or name of a cluster'),
  namespace: text.optional(),
  by: z.enum(['service', 'cluster']).default('service'),
  sort: z.enum(['writes', 'latency', 'endpoints', 'failed']).default('writes'),
  limit: limit(1_000, 20),
});

type Query = z.infer<typeof query>;

export const activityRoute: Route = route(
  '/api/v1/activity',
  'services',
  'writes in a period by Service or by cluster, the most active first',
  noParams,
  query,
  schemas.activityList,
  async (context, _, asked) => {
    const found = summarizeActivity(await writesOf(context, asked), asked.by, asked.sort);
    const since = Math.max(asked.since ?? 0, context.history.since ?? 0);
    return { since, until: asked.until ?? context.now(), total: found.length, items: found.slice(0, asked.limit) };
  },
);

async function writesOf(
  { history, index, budget }: RouteContext,
  { since = 0, until = Number.POSITIVE_INFINITY, cluster, namespace }: Query,
): Promise<readonly ServiceWrites[]> {
  const found: ServiceWrites[] = [];
  for await (const journal of budget.iterate(history.journals)) {
    const { key } = journal;
    if (journal.lastReceivedAt < since || (namespace !== undefined && key.namespace !== namespace)) continue;
    const { clusterName } = index.summary(journal);
    if (cluster !== undefined && cluster !== key.cluster && cluster !== clusterName) continue;
    const writes = journal.entries.flatMap(writesIn).filter(({ at }) => since <= at && at <= until);
    found.push({ key, clusterName, writes });
  }
  return found;
}
