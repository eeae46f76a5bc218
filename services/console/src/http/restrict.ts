import type { LogicalService, ReadableLogicalServices } from '@sluice/logical-services';
import { parseServiceKey } from '@sluice/messages';
import type { Recording } from '@sluice/recording';
import type { Place, Reader } from '../access/reader.ts';
import type { History } from '../history/history.ts';
import type { ConsoleSources } from '../ports.ts';
import type { TraceView, Update } from '../view/schemas.ts';
import type { ReadableHistory } from './route-context.ts';
import type { UpdatePublisher } from './update-publisher.ts';

type Updates = Pick<UpdatePublisher, 'subscribe'>;

/** The Services of the history that `sees` includes. */
export function restrictHistory(history: History, sees: (place: Place) => boolean): ReadableHistory {
  const journals = () => Iterator.from(history.journals).filter(({ key }) => sees(key));
  return {
    get journals() {
      return journals();
    },
    get: (key) => (sees(key) ? history.get(key) : undefined),
    get since() {
      return history.since;
    },
    retentionMs: history.retentionMs,
    get bytes() {
      return journals().reduce((sum, { bytes }) => sum + bytes, 0);
    },
    get servicesLimit() {
      return history.servicesLimit;
    },
    logicalServices: restrictLogicalServices(history.logicalServices, sees),
    sees,
    onRecord: (listener) => history.onRecord((key) => sees(key) && listener(key)),
  };
}

/** The Services in clusters and namespaces that a reader may see: totals, differences and conditions are of these alone. */
function restrictLogicalServices(
  services: ReadableLogicalServices,
  sees: (place: Place) => boolean,
): ReadableLogicalServices {
  const restrictService = ({ members, ...service }: LogicalService): LogicalService[] => {
    const seen = [...members].filter(({ key }) => sees(key));
    return seen.length === 0 ? [] : [{ ...service, members: seen }];
  };
  return {
    get all() {
      return Iterator.from(services.all).flatMap(restrictService);
    },
    get(namespace, name) {
      const found = services.get(namespace, name);
      return found && restrictService(found)[0];
    },
    nameOf: (key) => (sees(key) ? services.nameOf(key) : undefined),
    // No API server reviews access to a cluster that the fleet does not name.
    clusters: [],
    lastChangeAt: (cluster) => services.lastChangeAt(cluster),
  };
}

/** Data besides the history that a reader may see. A source that is not listed here is missing. */
export function restrictSources(sources: ConsoleSources, reader: Reader): ConsoleSources {
  const { outage, storeProblems, recording, problemRules, partitions, parked, deadLetters, trace } = sources;
  return {
    ...(outage !== undefined && { outage }),
    ...(storeProblems !== undefined && { storeProblems: () => (reader.seesFleet ? storeProblems() : []) }),
    clusters: () =>
      sources
        .clusters()
        .filter(({ identity }) => reader.knowsCluster(identity))
        .map(({ watcher, ...cluster }) =>
          watcher !== undefined && reader.seesCluster(cluster.identity) ? { ...cluster, watcher } : cluster,
        ),
    ...(problemRules !== undefined && { problemRules }),
    ...(recording !== undefined && { recording: restrictRecording(recording, reader) }),
    ...(partitions !== undefined && { partitions: async () => (reader.seesFleet ? partitions() : []) }),
    ...(parked !== undefined && { parked: async () => visible(reader, await parked(), ({ key }) => key) }),
    ...(deadLetters !== undefined && {
      deadLetters: async () =>
        (await deadLetters()).filter(({ key }) => reader.seesFleet || reader.seesCluster(key.replace(/\/.*/s, ''))),
    }),
    ...(trace !== undefined && {
      async trace(id) {
        const found = await trace(id);
        return found !== null && (await seesTrace(reader, found)) ? found : null;
      },
    }),
  };
}

/** Updates that are being decided, beyond which they are dropped, as those for a slow client are. */
const maxUndecided = 8;

/** Updates with what a reader may see. */
export function restrictUpdates(updates: Updates, reader: Reader): Updates {
  return {
    subscribe(listener) {
      let isOpen = true;
      let undecided = 0;
      let last = Promise.resolve();
      const send = async (update: Update) => {
        const seen = await restrictUpdate(update, reader.again());
        undecided--;
        if (isOpen && seen.services.length + seen.changes.length > 0) listener(seen);
      };
      const unsubscribe = updates.subscribe((update) => {
        if (undecided >= maxUndecided) return;
        undecided++;
        last = last.then(() => send(update));
      });
      return () => {
        isOpen = false;
        unsubscribe();
      };
    },
  };
}

async function restrictUpdate({ services, changes }: Update, reader: Reader): Promise<Update> {
  await reader.decide([...services, ...changes]);
  const sees = (place: Place) => reader.sees(place);
  return { services: services.filter(sees), changes: changes.filter(sees) };
}

/** Answers of a recording about what a reader may see. */
function restrictRecording(recording: Recording, reader: Reader): Recording {
  const seen = <T extends { readonly key: string }>(found: readonly T[]) =>
    visible(reader, found, ({ key }) => parseServiceKey(key));
  const sees = async (key: string) => (await seen([{ key }])).length > 0;
  return {
    coverage: () => recording.coverage(),
    records: async (key, range) =>
      (await sees(key)) ? recording.records(key, range) : { records: [], unreadable: [] },
    async pods(key, period, maxRecords) {
      if (await sees(key)) return recording.pods(key, period, maxRecords);
      return { ...period, pods: [], unreadable: [] };
    },
    async problems(query) {
      const answer = await recording.problems(query);
      return { ...answer, problems: await seen(answer.problems) };
    },
    async managerChanges(query) {
      const answer = await recording.managerChanges(query);
      return { ...answer, services: await seen(answer.services) };
    },
    async removals(query) {
      const answer = await recording.removals(query);
      const removals = await seen(Array.from(answer.removals, ([key, times]) => ({ key, times })));
      return { ...answer, removals: new Map(removals.map(({ key, times }) => [key, times])) };
    },
    propagations: (query) =>
      enough(query.limit, async (limit) => {
        const answer = await recording.propagations({ ...query, limit });
        const propagations = await seen(answer.propagations);
        const answered = { ...answer, propagations: propagations.slice(0, query.limit) };
        return { answer: answered, seen: propagations.length, found: answer.propagations.length };
      }),
    readinessChanges: (query) =>
      enough(query.limit, async (limit) => {
        const answer = await recording.readinessChanges({ ...query, limit });
        const pods = await seen(answer.pods);
        const answered = { ...answer, pods: pods.slice(0, query.limit) };
        return { answer: answered, seen: pods.length, found: answer.pods.length };
      }),
    /** Nodes are those of whole clusters. */
    async nodeDisruptions(query) {
      const [wanted = '', ...others] = query.keys.split('/');
      const clusters = reader.wholeClusters.filter((cluster) => wanted === '%' || wanted === cluster);
      const ask = (cluster: string) => recording.nodeDisruptions({ ...query, keys: [cluster, ...others].join('/') });
      const answers = await Promise.all(clusters.map(ask));
      const disruptions = answers.flatMap((answer) => answer.disruptions).sort((a, b) => a.from - b.from);
      return {
        isKnown: answers.some(({ isKnown }) => isKnown),
        disruptions: disruptions.slice(-query.limit),
        unreadable: [...new Set(answers.flatMap(({ unreadable }) => unreadable))],
      };
    },
  };
}

async function visible<T>(reader: Reader, found: readonly T[], placeOf: (item: T) => Place): Promise<readonly T[]> {
  await reader.decide(found.map(placeOf));
  return found.filter((item) => reader.sees(placeOf(item)));
}

interface Limited<T> {
  readonly answer: T;
  /** Number of results that the reader may see. */
  readonly seen: number;
  readonly found: number;
}

/** Asks for more results until the reader may see as many as wanted, or there are no more. */
async function enough<T>(wanted: number, ask: (limit: number) => Promise<Limited<T>>): Promise<T> {
  for (let limit = wanted; ; limit *= 10) {
    const { answer, seen, found } = await ask(limit);
    if (seen >= wanted || found < limit) return answer;
  }
}

/** A trace is of one Service. One that names none is of the fleet. */
async function seesTrace(reader: Reader, { service, spans }: TraceView): Promise<boolean> {
  const ofSpans = spans.flatMap(({ attributes }): Place[] => {
    const textOf = (name: string) => attributes.find((attribute) => attribute.name === name)?.value;
    const [cluster, namespace] = [textOf('k8s.cluster.uid'), textOf('k8s.namespace.name')];
    return cluster === undefined && namespace === undefined
      ? []
      : [{ cluster: cluster ?? '', namespace: namespace ?? '' }];
  });
  const places = service === null ? ofSpans : [service, ...ofSpans];
  await reader.decide(places);
  return places.length === 0 ? reader.seesFleet : places.every((place) => reader.sees(place));
}
