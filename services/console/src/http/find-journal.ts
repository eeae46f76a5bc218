import type { ServiceKey } from '@sluice/messages';
import { concerns } from '../../page/entry-text.ts';
import { limitText } from '../../page/limit-text.ts';
import type { Journal } from '../history/journal.ts';
import { readRecording } from '../history/read-recording.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { Moment } from '../view/view-service.ts';
import { Problem } from './problem.ts';
import type { HistoryFilter, RouteContext, ServiceParams } from './route-context.ts';

/** @throws Problem with similar Services if the Service has no history in memory */
export function findJournal(context: RouteContext, params: ServiceParams): Journal {
  const key = keyOf(context, params);
  return context.history.get(key) ?? missing(context, key);
}

/** The key of a Service whose cluster is given by UID or name. */
export function keyOf({ sources }: RouteContext, { cluster, namespace, service }: ServiceParams): ServiceKey {
  const identity = sources.clusters().find(({ name }) => name === cluster)?.identity ?? cluster;
  return { cluster: identity, namespace, service };
}

function missing({ history, sources }: RouteContext, key: ServiceKey): never {
  const name = sources.clusters().find(({ identity }) => identity === key.cluster)?.name ?? key.cluster;
  const service = `${key.namespace}/${key.service}`;
  const limit = history.servicesLimit;
  const full = limit === undefined ? '' : `${limitText(limit)}; `;
  throw new Problem(
    404,
    `no history for Service ${service} in cluster ${name}`,
    `${full}${knownServices(history, key)}`,
  );
}

/** A recorded Service is read from so many records before a moment, so that they explain it. */
const recordsBefore = 500;
/** Reading more would block the process. */
const maxRecords = 5_000;

/**
 * The last entries that match, from the recording if those in memory are not enough. What it continues is in memory, if anywhere: it
 * may have started later than the log that a console reads.
 *
 * @throws Problem with similar Services if there is no history
 */
export async function findEntries(
  context: RouteContext,
  params: ServiceParams,
  filter: HistoryFilter & { readonly limit: number },
): Promise<{ readonly key: ServiceKey; readonly entries: readonly Entry[]; readonly unreadable: readonly string[] }> {
  const key = keyOf(context, params);
  const { history, sources } = context;
  const journal = history.get(key);
  const isWanted = entryFilter(filter);
  const known = journal?.entries.filter(isWanted) ?? [];
  const { since = 0, until = Number.POSITIVE_INFINITY, pod, limit } = filter;
  const start = Math.min(
    journal?.since ?? Number.POSITIVE_INFINITY,
    journal?.entries[0]?.at ?? Number.POSITIVE_INFINITY,
  );
  const isEnough = journal !== undefined && (start <= since || known.length >= limit);
  if (sources.recording === undefined || isEnough)
    return journal === undefined ? missing(context, key) : { key, entries: known, unreadable: [] };
  // A change may have been received after it was observed. Entries of one Pod are among those of others.
  const range = { since, until: until + maxDelayMs, records: pod === undefined ? limit : maxRecords };
  const recorded = await readRecording(sources.recording, key, range);
  if (recorded === undefined && journal === undefined) return missing(context, key);
  if (recorded === undefined) return { key, entries: known, unreadable: [] };
  const { continuesAt = Number.NEGATIVE_INFINITY, entries, unreadable } = recorded;
  const before = known.filter(({ at }) => at <= continuesAt);
  return { key, entries: [...before, ...entries.filter(isWanted)], unreadable };
}

/** How much later than it was observed a change is recorded at most. */
const maxDelayMs = 5_000;

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
  return firstKnown(
    known.map(({ namespace, service }) => `${namespace}/${service}`),
    ', which the page lists',
  );
}

/** The Nodes that Pods are on whose names are most alike. @throws Problem */
export function missingNode(node: string, nodes: Iterable<string>): never {
  const known = [...nodes].sort((a, b) => sharedPrefix(b, node) - sharedPrefix(a, node));
  const hint = known.length === 0 ? 'no Pod of a Service is on a Node' : firstKnown(known);
  throw new Problem(404, `no Pod of a Service is or was on Node ${node}`, hint);
}

function firstKnown(known: readonly string[], where = ''): string {
  const names = known.slice(0, maxKnown);
  const more = known.length - names.length;
  return `known: ${names.join(', ')}${more === 0 ? '' : ` and ${more} more${where}`}`;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/**
 * The Service at a time, by default now.
 *
 * @throws Problem if there is no history at that time
 */
export async function findMoment(
  context: RouteContext,
  params: ServiceParams,
  at: number | undefined,
): Promise<Moment & { readonly journal: Journal }> {
  const { history, sources, now } = context;
  const key = keyOf(context, params);
  const journal = history.get(key);
  const isLive = at === undefined || at >= now();
  const isInMemory = journal !== undefined && (isLive || sources.recording === undefined || at >= journal.since);
  if (isInMemory) return { journal, ...momentOf(context, journal, at) };
  if (sources.recording === undefined) return missing(context, key);
  const time = at ?? now();
  const range = { since: time, until: time + maxDelayMs, records: recordsBefore };
  const recorded = await readRecording(sources.recording, key, range);
  if (recorded === undefined) return journal === undefined ? missing(context, key) : noHistory(time, journal.since);
  const { journal: past, entries } = recorded;
  if (isLive) return { journal: past, at: time, live: true, state: past.state, entries };
  return {
    journal: past,
    at: time,
    live: false,
    state: past.stateAt(time),
    entries: entries.filter((one) => one.at <= time),
  };
}

/** @throws Problem if the history starts later */
export function momentOf(
  { history, now }: Pick<RouteContext, 'history' | 'now'>,
  journal: Journal,
  at: number | undefined,
): Moment {
  if (at === undefined || at >= now())
    return { at: at ?? now(), live: true, state: journal.state, entries: journal.entries };
  const since = history.since ?? at;
  if (at < since) return noHistory(at, since);
  return { at, live: false, state: journal.stateAt(at), entries: journal.entries.filter((entry) => entry.at <= at) };
}

function noHistory(at: number, since: number): never {
  throw new Problem(
    404,
    `no history at ${new Date(at).toISOString()}: the history starts at ${new Date(since).toISOString()}`,
    'request a later time',
  );
}

export function entryFilter({ since = 0, until = Number.POSITIVE_INFINITY, pod }: HistoryFilter) {
  return (entry: Entry): boolean =>
    entry.at >= since && entry.at <= until && (pod === undefined || concerns(entry, pod));
}
