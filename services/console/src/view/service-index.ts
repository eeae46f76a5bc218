import { formatServiceKey, type ServiceKey } from '@sluice/messages';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { ThreadBudget } from '../thread-budget.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { RecentChange, ServiceList, ServiceStatus, ServiceSummary } from './schemas.ts';
import { type DegradedPolicy, defaultDegradedPolicy } from './service-status.ts';
import { summarize } from './summarize.ts';
import type { WriteInHistory } from './writes-in.ts';

export interface ServiceQuery {
  /** UID or name of a cluster. */
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  /** Substring of `namespace/name`. */
  readonly q?: string | undefined;
  /** Labels of the Service, as kubectl writes them. */
  readonly labelSelector?: string | undefined;
  /** Default: every status except `deleted`. */
  readonly status?: ServiceStatus | undefined;
  /** Keeps Services of a namespace together, in the order of their first ones. */
  readonly group?: 'namespace' | undefined;
  readonly sort: 'problem' | 'name' | 'changed' | 'ready' | 'latency';
  readonly offset: number;
  readonly limit: number;
}

/** The Services in question. */
type Journals = Pick<History, 'journals'>;

interface Ports {
  readonly history: History;
  /** The name of a cluster by its UID. */
  readonly nameOf: (cluster: string) => string;
  readonly budget: ThreadBudget;
  readonly now: () => number;
  readonly degraded?: DegradedPolicy;
}

/** Summaries of all Services in the history, cached until a Service gets a new record or has been rolling for too long. */
export class ServiceIndex {
  readonly #budget: ThreadBudget;
  readonly #history: History;
  readonly #nameOf: (cluster: string) => string;
  readonly #now: () => number;
  readonly #degraded: DegradedPolicy;
  readonly #summaries = new Map<string, ReturnType<typeof summarize> & { readonly version: number }>();

  constructor({ history, nameOf, budget, now, degraded = defaultDegradedPolicy }: Ports) {
    this.#budget = budget;
    this.#history = history;
    this.#nameOf = nameOf;
    this.#now = now;
    this.#degraded = degraded;
  }

  async list(query: ServiceQuery, history: Journals): Promise<ServiceList> {
    await this.refresh(history);
    return this.#budget.run(() => this.#select(query, history));
  }

  #select(query: ServiceQuery, history: Journals): ServiceList {
    const counts: Record<string, number> = {};
    const matching: ServiceSummary[] = [];
    const matches = query.labelSelector === undefined ? undefined : parseLabelSelector(query.labelSelector);
    for (const journal of history.journals) {
      const { cluster, namespace, service } = journal.key;
      if (query.cluster && query.cluster !== cluster && query.cluster !== this.#nameOf(cluster)) continue;
      if (query.namespace && query.namespace !== namespace) continue;
      if (query.q && !`${namespace}/${service}`.includes(query.q)) continue;
      const summary = this.summary(journal);
      if (matches?.(journal.state.service?.labels ?? {}) === false) continue;
      counts[summary.status] = (counts[summary.status] ?? 0) + 1;
      if (query.status ? summary.status === query.status : summary.status !== 'deleted') matching.push(summary);
    }
    matching.sort(orders[query.sort]);
    const groups = query.group && Map.groupBy(matching, ({ namespace }) => namespace);
    const items = groups === undefined ? matching : [...groups.values()].flat();
    return {
      total: matching.length,
      counts,
      endpoints: endpointsOf(matching),
      ...(groups && {
        groups: Array.from(groups, ([namespace, of]) => ({ namespace, total: of.length, endpoints: endpointsOf(of) })),
      }),
      items: items.slice(query.offset, query.offset + query.limit),
    };
  }

  /** Replays the new records of these Services. */
  async refresh({ journals }: Journals): Promise<void> {
    for await (const journal of this.#budget.iterate(journals)) this.summary(journal);
  }

  summary(journal: Journal): ServiceSummary {
    const name = formatServiceKey(journal.key);
    const cached = this.#summaries.get(name);
    const clusterName = this.#nameOf(journal.key.cluster);
    const at = this.#now();
    if (cached?.version === journal.version && cached.summary.clusterName === clusterName && at < cached.until) {
      return cached.summary;
    }
    const { state, entries } = journal;
    const summarized = summarize({ at, state, entries }, clusterName, this.#degraded);
    this.#summaries.set(name, { version: journal.version, ...summarized });
    return summarized.summary;
  }

  /** Drops the summaries of Services whose history has expired. */
  prune(): void {
    const names = new Set([...this.#history.journals].map(({ key }) => formatServiceKey(key)));
    for (const name of this.#summaries.keys()) if (!names.has(name)) this.#summaries.delete(name);
  }

  /** Summarizes a write. */
  recentChange(key: ServiceKey, write: WriteInHistory): RecentChange {
    const { at, controller, status, latencyMs, traceparent } = write;
    const count = (wanted: string) => write.endpoints.filter(({ type }) => type === wanted).length;
    return {
      cluster: key.cluster,
      clusterName: this.#nameOf(key.cluster),
      namespace: key.namespace,
      name: key.service,
      at,
      controller,
      status,
      latencyMs,
      added: count('added'),
      removed: count('removed'),
      changed: count('changed'),
      causes: write.causes.first.map(({ description }) => description),
      ...(traceparent !== undefined && { traceparent }),
    };
  }
}

function endpointsOf(services: readonly ServiceSummary[]): ServiceList['endpoints'] {
  const counts = { ready: 0, all: 0 };
  for (const { ready, endpoints, terminating } of services) {
    counts.ready += ready;
    counts.all += endpoints - terminating;
  }
  return counts;
}

type Order = (a: ServiceSummary, b: ServiceSummary) => number;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName: Order = (a, b) =>
  compare(a.clusterName, b.clusterName) || compare(a.namespace, b.namespace) || compare(a.name, b.name);
const readyRatio = ({ ready, endpoints, terminating }: ServiceSummary): number =>
  ready === 0 ? 0 : ready / (endpoints - terminating);

/** Worst first. */
const troubles: readonly ServiceStatus[] = ['refused', 'empty', 'degraded', 'unknown'];

const trouble = ({ status }: ServiceSummary): number => {
  const at = troubles.indexOf(status);
  return at < 0 ? troubles.length : at;
};

const orders: Readonly<Record<ServiceQuery['sort'], Order>> = {
  problem: (a, b) => trouble(a) - trouble(b) || byName(a, b),
  name: byName,
  changed: (a, b) => (b.lastChangeAt ?? 0) - (a.lastChangeAt ?? 0) || byName(a, b),
  ready: (a, b) => readyRatio(a) - readyRatio(b) || byName(a, b),
  latency: (a, b) => (b.lastLatencyMs ?? -1) - (a.lastLatencyMs ?? -1) || byName(a, b),
};
