import type { ServiceKey } from '@sluice/messages';
import type { ActivityView } from './schemas.ts';
import { quantile } from './summarize-drain.ts';
import type { WriteInHistory } from './writes-in.ts';

/** The writes of a Service in a period. */
export interface ServiceWrites {
  readonly key: ServiceKey;
  readonly clusterName: string;
  readonly writes: readonly WriteInHistory[];
}

type Sort = 'writes' | 'latency' | 'endpoints' | 'failed';

/** Adds up writes by Service, or by cluster. Those without writes are left out; the first of the order comes first. */
export function summarizeActivity(
  services: readonly ServiceWrites[],
  by: 'service' | 'cluster',
  sort: Sort,
): readonly ActivityView[] {
  const active = services.filter(({ writes }) => writes.length > 0);
  const groups = Map.groupBy(active, ({ key: { cluster, namespace, service } }) =>
    by === 'cluster' ? cluster : `${cluster}/${namespace}/${service}`,
  );
  return [...groups.values()].flatMap((group) => summarizeGroup(group, by)).sort(orders[sort]);
}

function summarizeGroup(group: readonly ServiceWrites[], by: 'service' | 'cluster'): readonly ActivityView[] {
  const [first] = group;
  if (first === undefined) return [];
  const { cluster, namespace, service } = first.key;
  const writes = group.flatMap((one) => one.writes);
  const latencies = writes.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b);
  return [
    {
      ...{ cluster, clusterName: first.clusterName },
      ...(by === 'cluster' ? { namespace: '', name: '' } : { namespace, name: service }),
      services: group.length,
      writes: writes.length,
      failed: writes.filter(({ status }) => status !== 'applied').length,
      endpoints: writes.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
      p50Ms: latencies.length === 0 ? null : quantile(latencies, 0.5),
      p99Ms: latencies.length === 0 ? null : quantile(latencies, 0.99),
      lastAt: Math.max(...writes.map(({ at }) => at)),
    },
  ];
}

type Order = (a: ActivityView, b: ActivityView) => number;

const byWrites: Order = (a, b) => b.writes - a.writes || (nameOf(a) < nameOf(b) ? -1 : 1);
const nameOf = ({ clusterName, namespace, name }: ActivityView): string => `${clusterName}/${namespace}/${name}`;

const orders: Readonly<Record<Sort, Order>> = {
  writes: byWrites,
  latency: (a, b) => (b.p99Ms ?? -1) - (a.p99Ms ?? -1) || byWrites(a, b),
  endpoints: (a, b) => b.endpoints - a.endpoints || byWrites(a, b),
  failed: (a, b) => b.failed - a.failed || byWrites(a, b),
};
