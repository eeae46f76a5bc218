import {
  type ConditionType,
  conditionsOf,
  type DescribeOptions,
  describeService,
  type LogicalService,
  lossesOf,
  type ReadableLogicalServices,
  type ServiceDescription,
  servingStatesOf,
} from '@sluice/logical-services';
import type { ThreadBudget } from '../thread-budget.ts';
import type { ConditionView, LogicalServiceDetail, LogicalServiceList, LogicalServiceSummary } from './schemas.ts';

export interface LogicalServiceQuery {
  readonly namespace?: string | undefined;
  /** Substring of `namespace/name`. */
  readonly q?: string | undefined;
  readonly condition?: ConditionType | undefined;
  /** Only Services with a condition at least as severe. */
  readonly severity?: ConditionView['severity'] | undefined;
  /** With more clusters, Services are listed without what each cluster has. Default: no limit. */
  readonly maxClusters?: number | undefined;
  readonly sort: 'name' | 'severity';
  readonly offset: number;
  readonly limit: number;
}

interface Cached {
  readonly version: number;
  readonly options: string;
  readonly summary: LogicalServiceSummary;
}

/** The Services over all clusters, each cached until it changes or a cluster is lost or found. */
export class LogicalServiceIndex {
  readonly #budget: ThreadBudget;
  #cached = new WeakMap<LogicalService, Cached>();

  constructor(budget: ThreadBudget) {
    this.#budget = budget;
  }

  /** Services that have not changed cost little. */
  async *summaries(
    services: ReadableLogicalServices,
    options: DescribeOptions,
  ): AsyncGenerator<readonly [LogicalService, LogicalServiceSummary]> {
    const state = stateOf(options);
    for await (const service of this.#budget.iterate(services.all))
      yield [service, this.#summary(service, options, state)];
  }

  async list(
    services: ReadableLogicalServices,
    query: LogicalServiceQuery,
    options: DescribeOptions,
  ): Promise<LogicalServiceList> {
    const counts: Record<string, number> = {};
    const matching: LogicalServiceSummary[] = [];
    const state = stateOf(options);
    for await (const service of this.#budget.iterate(services.all)) {
      const { namespace, name } = service;
      if (query.namespace && query.namespace !== namespace) continue;
      if (query.q && !`${namespace}/${name}`.includes(query.q)) continue;
      const summary = this.#summary(service, options, state);
      for (const { type } of summary.conditions) counts[type] = (counts[type] ?? 0) + 1;
      if (isWanted(summary, query)) matching.push(summary);
    }
    const showsClusters = options.clusters.length <= (query.maxClusters ?? Number.POSITIVE_INFINITY);
    matching.sort(query.sort === 'name' ? byName : bySeverity);
    return {
      total: matching.length,
      counts,
      clusters: options.clusters
        .map(({ identity, name, lost }) => ({ cluster: identity, clusterName: name, lost }))
        .sort((a, b) => compare(a.clusterName, b.clusterName)),
      lostClusters: options.policy,
      items: matching
        .slice(query.offset, query.offset + query.limit)
        .map((item) => ({ ...item, clusters: showsClusters ? withAges(item.clusters, options) : [] })),
    };
  }

  detail(service: LogicalService, options: DescribeOptions): LogicalServiceDetail {
    const described = describeService(service, options);
    const summary = summarize(described);
    return {
      ...summary,
      clusters: summary.clusters.map((one, i) => ({
        ...one,
        zones: [...(described.clusters[i]?.zones ?? [])]
          .map(([zone, counts]) => ({ zone, ...counts }))
          .sort((a, b) => compare(a.zone, b.zone)),
      })),
      missing: described.missing,
      differences: described.differences,
      losses: lossesOf(described),
    };
  }

  #summary(service: LogicalService, options: DescribeOptions, state: string): LogicalServiceSummary {
    const { version } = service;
    const cached = this.#cached.get(service);
    if (cached?.version === version && cached.options === state) return cached.summary;
    const summary = summarize(describeService(service, options));
    this.#cached.set(service, { version, options: state, summary });
    return summary;
  }
}

function summarize(described: ServiceDescription): LogicalServiceSummary {
  const { namespace, name, endpoints, clusters, missing } = described;
  const stateOf = servingStatesOf(described);
  const states: Record<string, number> = missing.length > 0 ? { missing: missing.length } : {};
  // Clusters with only slices of it are among the missing ones.
  for (const state of stateOf.values()) if (state !== 'missing') states[state] = (states[state] ?? 0) + 1;
  return {
    ...{ namespace, name, endpoints, conditions: conditionsOf(described), states },
    clusters: clusters.map(({ zones: _, spec: __, ...one }) => ({
      ...one,
      state: stateOf.get(one.cluster) ?? 'unknown',
    })),
  };
}

/** What summaries depend on, besides their Services: which clusters there are, and which of them are lost and count. */
function stateOf({ clusters, policy, now, without }: DescribeOptions): string {
  const isOld = (since: number) => policy.action === 'age-out' && now - since >= policy.maxAgeMs;
  const states = clusters.map(({ identity, name, lost }) => [identity, name, lost, isOld(lost?.since ?? now)]);
  return JSON.stringify([states, policy, [...(without ?? [])]]);
}

/** Ages grow, also of a cached summary. */
function withAges(clusters: LogicalServiceSummary['clusters'], { clusters: statuses, now }: DescribeOptions) {
  const lost = new Map(statuses.map((one) => [one.identity, one.lost?.since]));
  return clusters.map((one) => {
    const since = lost.get(one.cluster);
    return one.ageMs === null || since == null ? one : { ...one, ageMs: Math.max(0, now - since) };
  });
}

const severities = ['critical', 'warning', 'info'] as const;
const rankOf = ({ conditions: [worst] }: LogicalServiceSummary): number =>
  worst === undefined ? severities.length : severities.indexOf(worst.severity);

function isWanted(summary: LogicalServiceSummary, { condition, severity }: LogicalServiceQuery): boolean {
  if (condition !== undefined && !summary.conditions.some(({ type }) => type === condition)) return false;
  return severity === undefined || rankOf(summary) <= severities.indexOf(severity);
}

type Order = (a: LogicalServiceSummary, b: LogicalServiceSummary) => number;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName: Order = (a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name);
const bySeverity: Order = (a, b) => rankOf(a) - rankOf(b) || byName(a, b);
