import {
  type Change,
  encodeMessage,
  type Fact,
  type Message,
  type MutationResult,
  type Outcome,
  type PlannedMutations,
  type ServiceKey,
  type SnapshotPart,
} from '@sluice/messages';
import {
  type EndpointSlice,
  endpointSliceController,
  managedByLabel,
  type Pod,
  type Service,
  serviceNameLabel,
} from '@sluice/model';
import { aPodNamed, aService, someEndpoints } from '@sluice/model/testing';
import { Journal } from '../history/journal.ts';
import { type RetainedRecord, retain } from '../history/retained-record.ts';

/** Messages of the Service shop/web, for tests. */

export const shop = (service: string): ServiceKey => ({ cluster: 'cluster-uid', namespace: 'shop', service });
const key = shop('web');

/** An encoded record, as it is appended to a bus. */
export const toAppend = (message: Message) => ({
  ...{ id: 'any', key: 'cluster-uid/shop/web', headers: {} },
  payload: encodeMessage(message),
});

export const record = (message: Message): RetainedRecord => retain(toAppend(message), 0);

export const topicOf = ({ kind }: Message) => (kind === 'mutations' ? 'mutations' : 'changes');

/** The history of shop/web with these messages. */
export function journalOf(...messages: Message[]): Journal {
  const journal = new Journal(key);
  for (const message of messages) journal.add(topicOf(message), record(message));
  return journal;
}

export const service = (given: Partial<Service> = {}): Fact => ({ kind: 'service', service: aService(given) });

export function pod(name: string, given: Partial<Pod>, zone: string | null = 'a'): Fact {
  const node = zone === null ? null : { zone };
  return {
    kind: 'pod',
    name,
    node,
    pod: aPodNamed(name, { uid: `${name}-uid`, ip: '10.0.0.1', ips: ['10.0.0.1'], ...given }),
  };
}

/** The only slice, with one Pod. */
export function sliceOf(podName: string, { version, ready }: { version: string; ready: boolean }): EndpointSlice {
  return {
    metadata: {
      name: 'web-slice',
      namespace: 'shop',
      uid: 'slice-uid',
      labels: { [serviceNameLabel]: 'web', [managedByLabel]: endpointSliceController },
      ...(version !== '' && { resourceVersion: version }),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready, serving: ready, terminating: false },
        targetRef: { kind: 'Pod', namespace: 'shop', name: podName, uid: `${podName}-uid` },
        nodeName: 'node-a',
        zone: 'a',
      },
    ],
  };
}

/** What the watch reports of the slice; null: that it no longer selects the Service. */
export function sliceFact(
  slice: EndpointSlice | null,
  given: Partial<Extract<Fact, { kind: 'slice' }>> = {},
): Extract<Fact, { kind: 'slice' }> {
  return { kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice, ...given };
}

/** What the watch reports of the Endpoints; null: that they are gone. */
export function endpointsFact(
  version: string | null,
  given: Partial<Extract<Fact, { kind: 'endpoints' }>> = {},
): Extract<Fact, { kind: 'endpoints' }> {
  const endpoints =
    version === null ? null : someEndpoints({ metadata: { ...webEndpoints, resourceVersion: version } });
  return { kind: 'endpoints', uid: webEndpoints.uid, endpoints, ...given };
}

const webEndpoints = { name: 'web', namespace: 'shop', uid: 'endpoints-uid' };

/** The plan to write the Endpoints, and its Outcome with this version of them. */
export function writeOfEndpoints(number: number, at: number, version: string): readonly [PlannedMutations, Outcome] {
  const [plan, outcome] = [aPlan(number, at, []), anOutcome(number, at + 10, at - 10, [{ verb: 'update', version }])];
  const object = someEndpoints({ metadata: webEndpoints });
  const result = {
    resource: 'endpoints',
    name: 'web',
    stored: { uid: webEndpoints.uid, resourceVersion: version, generation: 1 },
  };
  return [
    {
      ...plan,
      controller: 'endpoints',
      groups: [{ mutations: [{ verb: 'update', resource: 'endpoints', object }] }],
    },
    {
      ...outcome,
      controller: 'endpoints',
      results: outcome.results.map((one) => ({ ...one, ...result }) as MutationResult),
    },
  ];
}

/** What the history says was observed: `pod web-1 became ready`. */
export const observed = ({ entries }: Journal): readonly string[] =>
  entries.flatMap((entry) =>
    entry.kind === 'observed' ? entry.observations.map(({ of, name, text }) => `${of} ${name} ${text}`) : [],
  );

export function podChange(sequence: number, at: number, ...facts: Fact[]): Change {
  const causes = { first: [{ description: 'Pod shop/web-1 modified', observedAt: at }], more: 0 };
  return { kind: 'change', key, stamp: { epoch: 1, sequence }, facts, causes };
}

export function snapshot(sequence: number, at: number, facts: Fact[], given: Partial<SnapshotPart> = {}): Change {
  const resourceVersions = { endpoints: '10', endpointslices: '10' };
  return {
    ...podChange(sequence, at, ...facts),
    snapshot: { first: true, last: true, initial: false, resourceVersions, ...given },
  };
}

export function aPlan(
  number: number,
  at: number,
  mutations: readonly { verb: 'create' | 'update'; object: EndpointSlice }[],
): PlannedMutations {
  return {
    kind: 'mutations',
    key,
    controller: 'endpointslice',
    plan: { epoch: 1, number },
    groups: [{ mutations: mutations.map(({ verb, object }) => ({ verb, resource: 'endpointslices', object })) }],
    events: [],
    incomplete: [],
    serviceUid: 'service-uid',
    causes: { first: [], more: 0 },
    decidedAt: at,
  };
}

export function anOutcome(
  number: number,
  at: number,
  observedAt: number,
  results: readonly { verb: 'create' | 'update'; version: string }[],
): Outcome {
  return {
    kind: 'outcome',
    key,
    controller: 'endpointslice',
    plan: { epoch: 1, number },
    status: 'applied',
    results: results.map(({ verb, version }, index) => ({
      group: 0,
      index,
      verb,
      resource: 'endpointslices',
      name: 'web-slice',
      status: 'applied',
      stored: { uid: 'slice-uid', resourceVersion: version, generation: 1 },
    })),
    message: '',
    causes: { first: [{ description: 'Pod shop/web-1 modified', observedAt }], more: 0 },
    decidedAt: at - 3,
    completedAt: at,
    retries: 0,
  };
}

/** A snapshot with one ready Pod and its slice; then the Pod becomes not ready, and the slice is updated. */
export function flip() {
  const ready = sliceOf('web-1', { version: '', ready: true });
  const notReady = sliceOf('web-1', { version: '11', ready: false });
  return [
    snapshot(1, 1_000, [service(), pod('web-1', { ready: true })]),
    aPlan(1, 1_010, [{ verb: 'create', object: ready }]),
    anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
    podChange(2, 5_000, pod('web-1', { ready: false })),
    aPlan(2, 5_001, [{ verb: 'update', object: notReady }]),
    anOutcome(2, 5_004, 5_000, [{ verb: 'update', version: '12' }]),
  ] as const;
}
