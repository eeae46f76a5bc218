import type { ServiceKey } from '@sluice/messages';
import type { Journal } from '../history/journal.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { Moment } from '../view/view-service.ts';
import type { HistoryFilter, ServiceParams } from './parameters.ts';
import { Problem } from './problem.ts';
import type { RouteContext } from './route-context.ts';

/** @throws Problem with similar Services if the Service has no history */
export function findJournal({ history, sources }: RouteContext, params: ServiceParams): Journal {
  const { cluster, namespace, service } = params;
  const clusters = sources.clusters();
  const identity = clusters.find(({ name }) => name === cluster)?.identity ?? cluster;
  const key: ServiceKey = { cluster: identity, namespace, service };
  const journal = history.get(key);
  if (journal !== undefined) return journal;
  const similar = [...history.journals]
    .map((other) => other.key)
    .filter((other) => other.service === service || other.namespace === namespace)
    .slice(0, 5)
    .map((other) => `${other.namespace}/${other.service}`);
  const hint = similar.length > 0 ? `known: ${similar.join(', ')}` : 'GET /api/v1/services lists all Services';
  const name = clusters.find((one) => one.identity === identity)?.name ?? cluster;
  throw new Problem(404, `no history for Service ${namespace}/${service} in cluster ${name}`, hint);
}

/** @throws Problem if the history starts later */
export function momentOf({ history, now }: RouteContext, journal: Journal, at: number | undefined): Moment {
  if (at === undefined || at >= now())
    return { at: at ?? now(), live: true, state: journal.state, entries: journal.entries };
  const since = history.since ?? at;
  if (at < since)
    throw new Problem(404, `the history starts at ${new Date(since).toISOString()}`, 'request a later time');
  return { at, live: false, state: journal.stateAt(at), entries: journal.entries.filter((entry) => entry.at <= at) };
}

export function entryFilter({ since = 0, until = Number.POSITIVE_INFINITY, pod }: HistoryFilter) {
  return (entry: Entry): boolean =>
    entry.at >= since && entry.at <= until && (pod === undefined || concerns(entry, pod));
}

function concerns(entry: Entry, pod: string): boolean {
  switch (entry.kind) {
    case 'observed':
      return entry.observations.some(({ of, name }) => of === 'pod' && name === pod);
    case 'decided':
      return entry.mutations.some(({ endpoints }) => endpoints.some((change) => change.pod === pod));
    case 'completed':
      return entry.endpoints.some((change) => change.pod === pod);
  }
}
