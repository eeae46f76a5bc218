import { type DegradedPolicy, isDegraded } from '@sluice/console';
import type { EndpointSlice } from '@sluice/model';
import type { Applied } from './display.ts';

interface Counts {
  readonly ready: number;
  readonly notReady: number;
}

interface WrittenService {
  readonly slices: Map<string, Counts>;
  /** Since when some of its endpoints are not ready. */
  since: number | undefined;
}

export interface EndpointTotals extends Counts {
  readonly ok: number;
  readonly rolling: number;
  readonly degraded: number;
  readonly empty: number;
}

/** Counts the endpoints in the slices that a run has written: all of a cluster in which nothing else writes. */
export class WrittenEndpoints {
  readonly #policy: DegradedPolicy;
  readonly #services = new Map<string, WrittenService>();

  constructor(policy: DegradedPolicy) {
    this.#policy = policy;
  }

  add({ cluster, plan, outcome }: Applied): void {
    const name = nameOf(cluster, plan);
    for (const { status, group, index, verb, resource, name: object } of outcome.results) {
      if (status !== 'applied') continue;
      const mutation = plan.groups[group]?.mutations[index];
      // Endpoints are deleted with their Service.
      if (resource === 'endpoints' && verb === 'delete') this.#services.delete(name);
      if (resource !== 'endpointslices' || mutation === undefined) continue;
      const service = this.#services.get(name) ?? { slices: new Map<string, Counts>(), since: undefined };
      if (mutation.verb === 'delete') service.slices.delete(object);
      else if ('addressType' in mutation.object) service.slices.set(object, countEndpoints(mutation.object));
      this.#services.set(name, service);
      const { notReady } = sum(service);
      service.since = notReady === 0 ? undefined : (service.since ?? outcome.completedAt);
    }
  }

  /** Of the Service of a plan. */
  of({ cluster, plan }: Pick<Applied, 'cluster' | 'plan'>): Counts {
    const service = this.#services.get(nameOf(cluster, plan));
    return service === undefined ? { ready: 0, notReady: 0 } : sum(service);
  }

  totals(now: number): EndpointTotals {
    const totals = { ok: 0, rolling: 0, degraded: 0, empty: 0, ready: 0, notReady: 0 };
    for (const service of this.#services.values()) {
      const counts = sum(service);
      totals.ready += counts.ready;
      totals.notReady += counts.notReady;
      totals[this.#statusOf(counts, service.since, now)]++;
    }
    return totals;
  }

  #statusOf({ ready, notReady }: Counts, since: number | undefined, now: number) {
    if (ready === 0) return 'empty';
    if (since === undefined) return 'ok';
    return isDegraded({ ready, expected: ready + notReady, since }, now, this.#policy) ? 'degraded' : 'rolling';
  }
}

const nameOf = (cluster: string, { key }: Applied['plan']): string => `${cluster}/${key.namespace}/${key.service}`;

function sum({ slices }: WrittenService): Counts {
  const all = [...slices.values()];
  const of = (key: keyof Counts) => all.reduce((total, counts) => total + counts[key], 0);
  return { ready: of('ready'), notReady: of('notReady') };
}

/** Those that are terminating are not expected to become ready. */
function countEndpoints(slice: EndpointSlice): Counts {
  const endpoints = slice.endpoints ?? [];
  const unready = endpoints.filter(({ conditions }) => conditions?.ready === false);
  const notReady = unready.filter(({ conditions }) => !conditions?.terminating).length;
  return { ready: endpoints.length - unready.length, notReady };
}
