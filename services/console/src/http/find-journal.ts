import type { ServiceKey } from '@sluice/messages';
import { concerns } from '../../page/entry-text.ts';
import type { Journal } from '../history/journal.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { Moment } from '../view/view-service.ts';
import { Problem } from './problem.ts';
import type { HistoryFilter, RouteContext, ServiceParams } from './route-context.ts';

/** @throws Problem with similar Services if the Service has no history */
export function findJournal({ history, sources }: RouteContext, params: ServiceParams): Journal {
  const { cluster, namespace, service } = params;
  const clusters = sources.clusters();
  const identity = clusters.find(({ name }) => name === cluster)?.identity ?? cluster;
  const key: ServiceKey = { cluster: identity, namespace, service };
  const journal = history.get(key);
  if (journal !== undefined) return journal;
  const name = clusters.find((one) => one.identity === identity)?.name ?? cluster;
  throw new Problem(
    404,
    `no history for Service ${namespace}/${service} in cluster ${name}`,
    knownServices(history, key),
  );
}

const maxKnown = 5;

/** The Services of the cluster whose names are most alike, those with the same name or namespace first. */
function knownServices({ journals }: RouteContext['history'], wanted: ServiceKey): string {
  const likeness = ({ namespace, service }: ServiceKey) =>
    (service === wanted.service ? 1_000 : sharedPrefix(service, wanted.service)) +
    (namespace === wanted.namespace ? 500 : sharedPrefix(namespace, wanted.namespace));
  const known = [...journals]
    .map(({ key }) => key)
    .filter(({ cluster }) => cluster === wanted.cluster)
    .sort((a, b) => likeness(b) - likeness(a));
  if (known.length === 0) return 'no Service of this cluster has been observed yet';
  const names = known.slice(0, maxKnown).map(({ namespace, service }) => `${namespace}/${service}`);
  const more = known.length - names.length;
  return `known: ${names.join(', ')}${more === 0 ? '' : ` and ${more} more, which the page lists`}`;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** @throws Problem if the history starts later */
export function momentOf({ history, now }: RouteContext, journal: Journal, at: number | undefined): Moment {
  if (at === undefined || at >= now())
    return { at: at ?? now(), live: true, state: journal.state, entries: journal.entries };
  const since = history.since ?? at;
  if (at < since)
    throw new Problem(
      404,
      `no history at ${new Date(at).toISOString()}: the history starts at ${new Date(since).toISOString()}`,
      'request a later time',
    );
  return { at, live: false, state: journal.stateAt(at), entries: journal.entries.filter((entry) => entry.at <= at) };
}

export function entryFilter({ since = 0, until = Number.POSITIVE_INFINITY, pod }: HistoryFilter) {
  return (entry: Entry): boolean =>
    entry.at >= since && entry.at <= until && (pod === undefined || concerns(entry, pod));
}
