import { formatServiceKey, type ServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { DoneEntry } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import { paced } from './paced.ts';
import type { RecentChange, ServiceList, ServiceStatus, ServiceSummary } from './schemas.ts';
import { summarize } from './summary.ts';

export interface ServiceQuery {
  /** Identity or name of a cluster. */
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  /** Part of `namespace/name`. */
  readonly q?: string | undefined;
  readonly status?: ServiceStatus | undefined;
  readonly sort: 'name' | 'changed' | 'ready' | 'latency';
  readonly offset: number;
  readonly limit: number;
}

/** The Services of the history in one line each, cached until a Service has news. */
export class Directory {
  readonly #clock: Clock;
  readonly #history: History;
  readonly #nameOf: (cluster: string) => string;
  readonly #lines = new Map<string, { readonly version: number; readonly summary: ServiceSummary }>();

  constructor(history: History, nameOf: (cluster: string) => string, clock: Clock) {
    this.#clock = clock;
    this.#history = history;
    this.#nameOf = nameOf;
  }

  async list(query: ServiceQuery): Promise<ServiceList> {
    await this.catchUp();
    const counts: Record<string, number> = {};
    const matching: ServiceSummary[] = [];
    for (const journal of this.#history.journals) {
      const { cluster, namespace, service } = journal.key;
      if (query.cluster && query.cluster !== cluster && query.cluster !== this.#nameOf(cluster)) continue;
      if (query.namespace && query.namespace !== namespace) continue;
      if (query.q && !`${namespace}/${service}`.includes(query.q)) continue;
      const summary = this.summary(journal);
      counts[summary.status] = (counts[summary.status] ?? 0) + 1;
      // Services that are gone are shown to those who ask for them.
      if (query.status ? summary.status === query.status : summary.status !== 'gone') matching.push(summary);
    }
    matching.sort(orders[query.sort]);
    return { total: matching.length, counts, items: matching.slice(query.offset, query.offset + query.limit) };
  }

  /** Replays the new records of all Services. */
  async catchUp(): Promise<void> {
    for await (const journal of paced(this.#history.journals, this.#clock)) this.summary(journal);
  }

  summary(journal: Journal): ServiceSummary {
    const name = formatServiceKey(journal.key);
    const known = this.#lines.get(name);
    const clusterName = this.#nameOf(journal.key.cluster);
    if (known?.version === journal.version && known.summary.clusterName === clusterName) return known.summary;
    const summary = summarize(journal.state, journal.entries, clusterName);
    this.#lines.set(name, { version: journal.version, summary });
    return summary;
  }

  /** Drops the lines of Services that are no longer kept. */
  forget(): void {
    const kept = new Set([...this.#history.journals].map(({ key }) => formatServiceKey(key)));
    for (const name of this.#lines.keys()) if (!kept.has(name)) this.#lines.delete(name);
  }

  /** A write, in one line. */
  change(key: ServiceKey, entry: DoneEntry): RecentChange {
    const count = (wanted: string) => entry.endpoints.filter(({ what }) => what === wanted).length;
    return {
      at: entry.at,
      cluster: key.cluster,
      clusterName: this.#nameOf(key.cluster),
      namespace: key.namespace,
      name: key.service,
      controller: entry.controller,
      status: entry.status,
      latencyMs: entry.latencyMs,
      added: count('added'),
      removed: count('removed'),
      changed: count('changed'),
      causes: entry.causes.first.map(({ description }) => description),
      ...(entry.traceparent !== undefined && { traceparent: entry.traceparent }),
    };
  }
}

type Order = (a: ServiceSummary, b: ServiceSummary) => number;

const byName: Order = (a, b) =>
  compare(a.clusterName, b.clusterName) || compare(a.namespace, b.namespace) || compare(a.name, b.name);

const orders: Readonly<Record<ServiceQuery['sort'], Order>> = {
  name: byName,
  changed: (a, b) => (b.lastChangeAt ?? 0) - (a.lastChangeAt ?? 0) || byName(a, b),
  ready: (a, b) => share(a) - share(b) || byName(a, b),
  latency: (a, b) => (b.lastLatencyMs ?? -1) - (a.lastLatencyMs ?? -1) || byName(a, b),
};

const share = ({ ready, endpoints }: ServiceSummary): number => (endpoints === 0 ? 0 : ready / endpoints);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
