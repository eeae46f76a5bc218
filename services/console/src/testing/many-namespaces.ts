import { encodeMessage, formatServiceKey, type Message, type ServiceKey } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import type { DisruptedService, Propagation, Recording } from '@sluice/recording';
import type { Place } from '../access/reader.ts';
import { History } from '../history/history.ts';
import type { AccessReviewer, ConsoleSources, Review } from '../ports.ts';
import { anOutcome, aPlan, pod, podChange, service, sliceOf, snapshot, topicOf } from './records.ts';
import { serveConsole } from './serve-console.ts';

/**
 * A console of several clusters and namespaces. Every name of an object contains that of its namespace, and every name of
 * a namespace or Node that of its cluster, so that a response tells by itself what it is about.
 */

export const clusters = ['amber', 'beryl', 'coral'].map((name) => ({
  ...{ identity: `uid-${name}`, name, version: 'v1.36.3', server: `https://${name}.example`, state: 'watched' },
  watcher: { owner: `watcher-of-${name}`, epoch: 1 },
}));
export const places: readonly Place[] = clusters.flatMap(({ identity, name }) =>
  [0, 1, 2].map((n) => ({ cluster: identity, namespace: `ns${n}-${name}` })),
);
export const keyIn = ({ cluster, namespace }: Place): ServiceKey => ({
  cluster,
  namespace,
  service: `svc-${namespace}`,
});
export const nodeOf = (cluster: string) => `node-of-${cluster}`;
export const traceOf = (index: number) => index.toString(16).padStart(32, '0');
export const fleetOwner = 'reconciler-of-the-fleet';

/** What API servers answer, by token. */
export type Permissions = ReadonlyMap<string, 'silent' | 'unauthenticated' | 'all' | ReadonlySet<string>>;

/** What the API server of a cluster answers to a review. */
function answerOf(permissions: Permissions | undefined, cluster: string, namespace: string | undefined): Review {
  const granted = permissions?.get(cluster) ?? 'unauthenticated';
  if (granted === 'silent') throw new Error('connection refused');
  if (granted === 'unauthenticated') return granted;
  return granted === 'all' || (namespace !== undefined && granted.has(namespace)) ? 'allowed' : 'denied';
}

/** API servers that answer as these permissions say, by token. */
export function reviewerOf(readers: ReadonlyMap<string, Permissions>, connected = clusters): AccessReviewer {
  return {
    clusters: () => connected.map(({ identity }) => identity),
    review: async (cluster, token, namespace) => answerOf(readers.get(token), cluster, namespace),
  };
}

const keys = places.map(keyIn);
const names = keys.map(formatServiceKey);

const impact: Omit<DisruptedService, 'key'> = {
  ...{ isStartKnown: true, pods: 1, onNode: 1, shown: 1, leftAfterMs: [40], deleted: [], replaced: 0, outages: [] },
};

function matches(name: string, keys: string): boolean {
  const wanted = keys.split('/');
  return name.split('/').every((part, i) => wanted[i] === '%' || wanted[i] === part);
}

const recording: Recording = {
  coverage: async () => ({ periods: [{ from: 100, to: 10_000 }], gaps: [], unreadable: [], isRedacted: false }),
  records: async (key) => {
    const known = keys.find((one) => formatServiceKey(one) === key);
    const records = known === undefined ? [] : messagesOf(known);
    return {
      unreadable: [],
      records: records.map((message) => ({
        ...{ topic: topicOf(message), receivedAt: 1_000, startsSnapshot: false, payload: encodeMessage(message) },
      })),
    };
  },
  problems: async () => ({
    unreadable: [],
    problems: names.map((key) => ({
      ...{ key, from: 0, to: null, isStartKnown: true, event: key, reason: 'NoReadyEndpoints', message: key },
    })),
  }),
  managerChanges: async () => ({
    unreadable: [],
    services: names.map((key) => ({ key, changes: 5, firstAt: 1, before: 'one', after: 'other' })),
  }),
  propagations: async ({ limit, keys }) => ({
    unreadable: [],
    propagations: names
      .filter((name) => matches(name, keys))
      .slice(0, limit)
      .map((key): Propagation => {
        const shown = { place: 'slices', from: 'ready', to: 'not ready' } as const;
        const times = { startedAt: 10, isStartKnown: true, endedAt: null, end: null };
        return { key, pod: `pod-${key}`, event: key, ...shown, ...times };
      }),
  }),
  pods: async (key, { from, to }) => {
    const one = { pod: `pod-${key}`, owner: key, spans: [{ from: 10, to: null, state: 'ready' as const }] };
    return { from, to, pods: names.includes(key) ? [one] : [], unreadable: [] };
  },
  readinessChanges: async ({ limit, keys }) => ({
    unreadable: [],
    pods: names
      .filter((name) => matches(name, keys))
      .slice(0, limit)
      .map((key) => ({ key, pod: `pod-${key}`, changes: 7, firstAt: 1, lastAt: 5 })),
  }),
  nodeDisruptions: async ({ keys, limit }) => {
    const disruptions = clusters
      .filter(({ identity }) => matches(identity, keys))
      .map(({ identity: cluster }) => {
        const services = names.filter((name) => name.startsWith(cluster)).map((key) => ({ key, ...impact }));
        return { cluster, node: nodeOf(cluster), from: 10, to: null, isDeleted: false, events: [], services };
      });
    return { isKnown: disruptions.length > 0, disruptions: disruptions.slice(-limit), unreadable: [] };
  },
  removals: async () => ({ unreadable: [], removals: new Map(names.map((key) => [key, [5]])) }),
};

const causes = { first: [], more: 0 };

export const sources: ConsoleSources = {
  clusters: () => clusters,
  storeProblems: () => [`${fleetOwner} may evict`],
  recording,
  partitions: async () => {
    const share = { owner: fleetOwner, epoch: 1, lag: 0 };
    return [{ partition: 0, ...share, writer: share }];
  },
  parked: async () =>
    keys.map((key) => ({
      ...{ name: `${formatServiceKey(key)}/endpoints`, key, controller: 'endpoints' as const, reason: key.namespace },
      ...{ since: 7_000, nextTryAt: null, causes },
    })),
  deadLetters: async () =>
    [...names, ...clusters.map(({ identity }) => identity)].map((key) => ({
      ...{ name: `letter-of-${key}`, topic: 'changes', key, clusterName: '', reason: key, at: 900 },
    })),
  trace: async (traceId) => {
    const key = keys[Number.parseInt(traceId, 16)];
    if (key === undefined) return null;
    const { cluster, namespace, service: name } = key;
    const attributes = [
      { name: 'k8s.cluster.uid', value: cluster },
      { name: 'k8s.namespace.name', value: namespace },
    ];
    const times = { startedAt: 1, durationMs: 2 };
    const ofSpan = { id: '1', parent: null, depth: 0, service: 'watcher', name: namespace, error: null, links: [] };
    const span = { ...ofSpan, ...times, attributes };
    const ofService = { service: { cluster, namespace, name }, services: ['watcher'], spent: [] };
    return { traceId, ...times, cause: namespace, ...ofService, spans: [span] };
  },
};

function messagesOf(key: ServiceKey): readonly Message[] {
  const { namespace, service: name } = key;
  const podName = `pod-${namespace}`;
  const slice = sliceOf(podName, { version: '', ready: true });
  const messages: Message[] = [
    snapshot(1, 1_000, [service({ name }), pod(podName, { ready: true })]),
    aPlan(1, 1_010, [{ verb: 'create', object: slice }]),
    anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
    podChange(2, 5_000, pod(podName, { ready: false })),
  ];
  return messages.map((message) => ({ ...message, key }) as Message);
}

/** A console whose readers have these permissions; undefined: it has no readers and shows everything. */
export async function serveManyNamespaces(readers: ReadonlyMap<string, Permissions> | undefined, connected = clusters) {
  const access = { hosts: [], ...(readers !== undefined && { reviewer: reviewerOf(readers, connected) }) };
  const history = new History({ clock: new VirtualClock(500) });
  const console = await serveConsole({ sources, access, history });
  const add = (key: ServiceKey, message: Message) =>
    history.add(topicOf(message), 0, {
      ...{ id: 'any', key: formatServiceKey(key), headers: {} },
      payload: encodeMessage({ ...message, key } as Message),
    });
  for (const key of keys) for (const message of messagesOf(key)) add(key, message);
  /** Changes a Pod of each Service. */
  const changeAll = (sequence: number) => {
    for (const key of keys) add(key, podChange(sequence, 9_990, pod(`pod-${key.namespace}`, { ready: true })));
  };
  return { ...console, changeAll };
}
