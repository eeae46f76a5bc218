import { isDeepStrictEqual } from 'node:util';
import type { Bus } from '@sluice/bus';
import { History, readLogs } from '@sluice/console';
import type { Clock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { ServiceMessage } from '@sluice/service-state';
import type { SimulatedBus } from '../doubles/simulated-bus.ts';
import { knownFields, knownWritten, storedField } from '../reference/known-service.ts';
import type { SliceEndpoint } from '../reference/objects.ts';
import { isLossy, type Scenario } from '../scenario.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { Violations } from '../violations.ts';
import type { World } from '../world.ts';
import { decode } from './decode.ts';
import { servicesOf } from './known-objects.ts';

type Journal = NonNullable<ReturnType<History['get']>>;

const [tickMs, readWithinMs] = [250, 20_000];

/** A console that starts now shows the objects of each Service as they are, if the logs are complete and no message is in chunks. */
export async function checkConsole(
  { log, clock, clusters }: World,
  scenario: Scenario,
  violations: Violations,
): Promise<void> {
  // Chunks are not joined here.
  if (isLossy(scenario) || scenario.recordBytes !== null || scenario.dropsReleased) return;
  let history: History | undefined;
  void readHistory(log, clock).then((read) => {
    history = read;
  });
  for (let waited = 0; history === undefined && waited < readWithinMs; waited += tickMs) await advance(clock, tickMs);
  const wrong = history === undefined ? 'the logs cannot be read' : wrongHistory(history, clusters);
  if (wrong !== undefined) violations.report('the console shows what is', wrong);
}

/** Reads all logs into a history, as a console in the process of a worker gets the records: with their messages. */
async function readHistory(log: SimulatedBus, clock: Clock): Promise<History> {
  const history = new History({ clock });
  const bus: Pick<Bus, 'partitions' | 'beginning' | 'end' | 'read'> = {
    partitions: log.partitions,
    beginning: (...args) => log.beginning(...args),
    end: (...args) => log.end(...args),
    read: (...args) => {
      const reader = log.read(...args);
      const next = async (max: number) =>
        (await reader.next(max)).map((record) => ({ ...record, message: decode(record.payload) }));
      return { streamId: reader.streamId, next, release: () => {}, close: () => reader.close() };
    },
  };
  await readLogs(bus as Bus, history, new AbortController().signal);
  return history;
}

/**
 * Once a run has converged, the history that a console has read shows the objects of each Service as they are. Returns the first
 * difference; undefined if there is none.
 */
function wrongHistory(history: History, clusters: readonly SimulatedCluster[]): string | undefined {
  for (const cluster of clusters) {
    const { identity, name: clusterName, view } = cluster;
    for (const [namespace, name] of servicesOf(view)) {
      const journal = history.get({ cluster: identity, namespace, service: name });
      const expected = knownFields(view, namespace, name);
      const wrong = difference(expected, journal) ?? wrongPast(journal) ?? wrongEndpoint(cluster, journal);
      // Without the older half of its records it shows the same.
      journal?.halve();
      const wrongLater = wrong ?? difference(expected, journal);
      if (wrongLater !== undefined) return `${clusterName} ${namespace}/${name} ${wrongLater}`;
    }
  }
  return undefined;
}

function difference(expected: ReadonlyMap<string, unknown>, journal: Journal | undefined): string | undefined {
  const shown = journal === undefined ? new Map<string, unknown>() : shownFields(journal.state);
  for (const field of new Set([...expected.keys(), ...shown.keys()])) {
    if (field.startsWith('controller/')) continue;
    const [wanted, found] = [expected.get(field), shown.get(field)].map((value) => JSON.stringify(value));
    if (wanted !== found) return `shows ${field} as ${found}, and it is ${wanted}`;
  }
  return undefined;
}

function shownFields(state: Journal['state']): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  if (state.service !== null) fields.set('service', storedField('service', { service: state.service }));
  if (state.topology !== null) fields.set('topology', storedField('topology', state.topology));
  for (const [name, entry] of state.pods) fields.set(`pod/${name}`, storedField(`pod/${name}`, entry));
  if (state.endpoints !== null) fields.set('endpoints', knownWritten(state.endpoints));
  for (const [name, { slice }] of state.slices) fields.set(`slice/${name}`, knownWritten(slice));
  return fields;
}

/** At the time of its last message, a Service was as it is now. */
function wrongPast(journal: Journal | undefined): string | undefined {
  if (journal === undefined) return undefined;
  const now = shownFields(journal.state);
  const then = shownFields(journal.stateAt(Math.max(0, ...journal.log.messages.map(timeOf))));
  return isDeepStrictEqual(then, now) ? undefined : 'shows another state at the time of its last message';
}

function timeOf(message: ServiceMessage): number {
  switch (message.kind) {
    case 'change':
      return message.causes.first[0]?.observedAt ?? 0;
    case 'mutations':
      return message.decidedAt;
    case 'outcome':
      return message.completedAt;
    case 'compaction':
      return message.requestedAt;
    default:
      return message.releasedAt;
  }
}

/** Each endpoint that is shown as written was once in that slice, with this state. */
function wrongEndpoint({ versions }: SimulatedCluster, journal: Journal | undefined): string | undefined {
  const namespace = journal?.key.namespace;
  for (const entry of journal?.entries ?? []) {
    if (entry.kind !== 'completed' || entry.status !== 'applied') continue;
    for (const { slice, addresses, after } of entry.endpoints) {
      if (after === null) continue;
      const known = versions.get(`endpointslices/${namespace}/${slice}`) ?? [];
      const states = known.flatMap(({ object }) =>
        ((object?.endpoints ?? []) as readonly SliceEndpoint[])
          .filter((endpoint) => isDeepStrictEqual(endpoint.addresses, addresses))
          .map(stateOf),
      );
      const shown = [after.ready, after.serving, after.terminating].join();
      if (!states.includes(shown))
        return `shows ${addresses} in ${slice} as ${shown}, and it was ${states.join(' or ')}`;
    }
  }
  return undefined;
}

/** Ready, serving and terminating, as the API defines what is absent. */
function stateOf({ conditions = {} }: SliceEndpoint): string {
  const { ready, serving, terminating } = conditions;
  return [ready ?? true, serving ?? ready ?? true, terminating ?? false].join();
}
