import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryBus, streamStart } from '@sluice/bus';
import { ClusterSet, type ConnectedCluster, fenceWrites, guardWrites } from '@sluice/fleet/clusters';
import { ApiError, type ApiRequest, type ClusterAccess, type Connection, HttpCluster } from '@sluice/kubernetes';
import { decodeMessage, encodeMessage, type Outcome, type PlannedMutations } from '@sluice/messages';
import { aborted, asRecord, type JsonRecord, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { writable } from '@sluice/sluice';
import { MemoryStore } from '@sluice/store';
import { defaultRetry, mayWrite, runPlanPartition, type unlimited } from '@sluice/writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../docs/concepts/writer.md'), 'utf8');
const [, section = ''] = /\n## May this process write\?([\s\S]*?)\n## /.exec(page) ?? [];
/** The table of docs/concepts/writer.md, in its order. */
const rows = [...section.matchAll(/^\| (● )?(.*\?) +\|/gm)].map(([, mark, question = '']) => ({ question, mark }));

const { plan, cluster, slot: ofSlot, request, connection, server } = mayWrite;
const beforeBytes = new Set<string>([...request, connection].map(({ question }) => question));

let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
/** What could speak against a write. */
let world: {
  isServed: boolean;
  holdsLease: boolean;
  identity: string;
  leasesAnswer: boolean;
  hasUpstream: boolean;
  isLeader: boolean;
  isStored: boolean;
};
/** Requests that reached the API server and changed it. */
let written: string[];
/** Resolves when the bytes of a write may leave. */
let leaving: Promise<void>;
let served: ConnectedCluster | undefined;
/** Slots for requests are free. */
let slot: Promise<void>;
let stop: AbortController;
let failure: unknown;

const failed = (status: number, kind: 'conflict' | 'notFound' | 'retry', message: string) =>
  new ApiError(message, { kind, status, reason: '' });

const upstreamPod = {
  metadata: { name: 'kube-controller-manager-node-1' },
  spec: { containers: [{ command: ['kube-controller-manager'] }] },
  status: { phase: 'Running' },
};
const service = {
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2020-01-01T00:00:00Z',
  },
  spec: { selector: { app: 'web' }, ports: [] },
};

/** The API server. */
function answer({ method, path, body }: ApiRequest, lease: { current: JsonRecord | undefined }): unknown {
  if (/\/leases(\/sluice)?$/.test(path)) {
    if (!world.leasesAnswer) throw failed(503, 'retry', 'the claim does not answer');
    if (method !== 'GET') lease.current = asRecord(body);
    if (lease.current === undefined) throw failed(404, 'notFound', 'no Lease');
    return lease.current;
  }
  if (path.includes('/leases/')) throw failed(404, 'notFound', 'no Lease');
  if (path === '/api/v1/namespaces/kube-system') return { metadata: { name: 'kube-system', uid: world.identity } };
  if (path.includes('/services/web')) return service;
  if (path.includes('/pods')) return { items: world.hasUpstream ? [upstreamPod] : [] };
  if (method === 'GET') return { items: [] };
  if (world.isStored) throw failed(409, 'conflict', 'the object has been modified');
  written.push(`${method} ${path.replace(/\?.*/, '')}`);
  return { metadata: { namespace: 'shop', name: 'web-1', uid: 'u', resourceVersion: '8', generation: 1 } };
}

const isPlanned = ({ method, path }: ApiRequest) => method !== 'GET' && path.includes('endpointslices');

function open(): ConnectedCluster {
  const lease = { current: undefined };
  const connection = {
    server: 'https://prod',
    async request(request: ApiRequest) {
      if (isPlanned(request)) await leaving;
      request.beforeSend?.();
      return { status: 200, headers: {}, body: answer(request, lease) };
    },
  } as Partial<Connection> as Connection;
  const elector = {
    get isLeader() {
      return world.isLeader;
    },
  };
  const durations = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000 };
  const http = new HttpCluster({
    connection: fenceWrites(connection, elector, durations),
    ...{ clock, random: seededRandom(1) },
  });
  return {
    ...{ name: 'prod', identity: 'c', server: 'https://prod', version: 'v1', connection, reader: http, writer: http },
    record: () => {},
    close: async () => {},
  };
}

/** Lets time pass in which the claim is renewed. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) await advance(clock, 1_000);
}

/** Composed as in a process. */
function startClusters(): void {
  const candidate = { name: 'prod', from: 'prod.yaml', fingerprint: '', load: async () => ({}) as ClusterAccess };
  const fleet = { name: 'fleet', id: async () => '1' };
  const set = new ClusterSet({
    sources: [{ about: 'test', read: async () => ({ candidates: [candidate], problems: [] }) }],
    open: async () => open(),
    guard: (cluster, signal) => guardWrites(cluster, { fleet, clock, logger: silentLogger }, signal),
    serve: async (cluster, signal) => {
      served = cluster;
      await aborted(signal);
    },
    ...{ clock, random: seededRandom(1), logger: silentLogger },
  });
  void set.run(stop.signal);
}

const throughSlot: typeof unlimited = { run: async (_, request) => slot.then(request) };

function startWriter(fencingToken = 1, signal = stop.signal): Promise<void> {
  const cluster = served && { ...writable(served, { clock, logger: silentLogger }), limit: throughSlot };
  return runPlanPartition(
    {
      ...{ partition: 0, fencingToken, bus, store, clock, random: seededRandom(1), logger: silentLogger },
      ...{ retry: defaultRetry, requestSignal: stop.signal, isCurrent: () => world.holdsLease },
      cluster: (identity) => (world.isServed && identity === 'c' ? cluster : undefined),
    },
    signal,
  ).catch((error: unknown) => {
    failure = error;
  });
}

const update: PlannedMutations['groups'][number]['mutations'][number] = {
  verb: 'update',
  resource: 'endpointslices',
  object: {
    metadata: {
      ...{ name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '7' },
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    ...{ addressType: 'IPv4', endpoints: [], ports: [] },
  },
};

async function send(number: number, given: Partial<PlannedMutations> = {}): Promise<void> {
  const plan: PlannedMutations = {
    ...{ kind: 'mutations', key: { cluster: 'c', namespace: 'shop', service: 'web' }, controller: 'endpointslice' },
    ...{ plan: { epoch: 1, number }, groups: [{ mutations: [update] }], events: [], incomplete: [], serviceUid: 'u' },
    ...{ causes: { first: [{ description: 'test', observedAt: 1 }], more: 0 }, decidedAt: clock.now() },
    ...given,
  };
  const record = { key: 'c/shop/web', id: `${number}`, headers: {}, payload: encodeMessage(plan) };
  await bus.append('mutations', 0, [record]);
  await advance(clock, 0);
}

/** What became of the plan of this number: its Outcome, or why the writer stopped. */
async function result(number: number): Promise<string> {
  await advance(clock, 60_000);
  if (failure instanceof Error) return failure.message;
  const reader = bus.read('changes', 0, streamStart);
  const next = reader.next(100);
  await advance(clock, 0);
  reader.close();
  const outcomes = (await next).map(({ payload }) => decodeMessage(payload) as Outcome);
  const found = outcomes.findLast(({ plan }) => plan.number === number);
  return `${found?.status} ${found?.message}`;
}

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  [bus, store, stop] = [new MemoryBus({ partitions: 1 }), new MemoryStore(), new AbortController()];
  [written, leaving, slot, served, failure] = [[], Promise.resolve(), Promise.resolve(), undefined, undefined];
  world = {
    ...{ isServed: true, holdsLease: true, identity: 'c', leasesAnswer: true },
    ...{ hasUpstream: false, isLeader: true, isStored: false },
  };
  startClusters();
  await advance(clock, 0);
});

afterEach(async () => {
  stop.abort();
  await bus.close();
  await advance(clock, 0);
});

/** How to make one answer "no" before a plan is sent, and what follows. */
interface Refusal {
  readonly refuse: () => Promise<void>;
  readonly becomes: string;
  /** The plan that is refused. Default: an update. */
  readonly given?: Partial<PlannedMutations>;
}

const refusals: Readonly<Record<string, Refusal>> = {
  'Does this process hold the lease of the partition?': {
    refuse: async () => {
      world.holdsLease = false;
    },
    becomes: 'lease expired; request not sent',
  },
  'Does the same cluster answer at its address?': {
    refuse: () => {
      world.identity = 'another';
      return pass(31_000);
    },
    becomes: 'another cluster answers at the address of cluster c',
  },
  'Does this fleet hold the claim to the cluster?': {
    refuse: () => {
      world.leasesAnswer = false;
      return pass(16_000);
    },
    becomes: 'the claim',
  },
  'Does no competing controller write?': {
    refuse: () => {
      world.hasUpstream = true;
      return pass(20_000);
    },
    becomes: 'writes to this cluster are paused',
  },
  'Is this process the leader, with `--leader-elect`?': {
    refuse: async () => {
      world.isLeader = false;
    },
    becomes: 'this process is not the leader',
  },
  'Is the cluster served and connected?': {
    refuse: async () => {
      world.isServed = false;
    },
    becomes: 'rejected cluster c is unknown',
  },
  'Does the cluster confirm a mass removal or a mass addition?': {
    refuse: async () => {},
    given: { ready: { delta: -1, total: 9, repeated: true, evidence: [{ kind: 'service' }] } },
    becomes: 'rejected removal held back',
  },
  'Has the object the resourceVersion or UID on which the plan was decided?': {
    refuse: async () => {
      world.isStored = true;
    },
    becomes: 'conflict',
  },
};

/** Those for which a plan has a history. */
const histories: Readonly<Record<string, () => Promise<string>>> = {
  'Can no former owner of the partition have applied the plan, or has every write of it a precondition?': async () => {
    const former = new AbortController();
    const ended = startWriter(1, former.signal);
    await send(1);
    await advance(clock, 0);
    former.abort();
    await advance(clock, 0);
    await ended;
    const { metadata, ...object } = update.verb === 'update' ? update.object : { metadata: {} };
    const { uid: _, resourceVersion: __, ...created } = metadata;
    const create = { verb: 'create', resource: 'endpointslices', object: { ...object, metadata: created } };
    await send(2, { groups: [{ mutations: [create as typeof update] }] });
    void startWriter(2);
    expect(await result(2)).toContain('a former owner of the partition may have applied it');
    return 'PUT';
  },
  'Is it newer than all completed plans of its Service and controller?': async () => {
    void startWriter();
    await send(2);
    await send(1);
    expect(await result(1)).toContain('conflict already applied or superseded');
    return 'PUT';
  },
  'Has no newer plan arrived, unless a part of this one may be stored?': async () => {
    const free = Promise.withResolvers<void>();
    slot = free.promise;
    void startWriter();
    await send(1);
    await send(2);
    free.resolve();
    expect(await result(1)).toContain('conflict superseded by plan 1/2');
    return 'PUT';
  },
};

test('docs/concepts/writer.md lists every check of mayWrite, in its order, and so does this test', () => {
  const chain = [...plan, cluster, ofSlot, ...request, connection, server].map(({ question }) => question);
  expect(rows.map(({ question }) => question)).toEqual(chain);
  expect(rows.flatMap(({ question, mark }) => (mark ? question : []))).toEqual(
    chain.filter((question) => beforeBytes.has(question)),
  );
  expect([...Object.keys(refusals), ...Object.keys(histories)].sort()).toEqual([...chain].sort());
});

test('a plan of which every question is answered with yes is written', async () => {
  void startWriter();
  await send(1);
  expect(await result(1)).toMatch(/^applied/);
  expect(written).toHaveLength(1);
});

describe('a plan is not written if the answer is no:', () => {
  test.each(Object.entries(refusals))('%s', async (_, { refuse, given, becomes }) => {
    void startWriter();
    await refuse();
    await send(1, given);
    expect(await result(1)).toContain(becomes);
    expect(written).toEqual([]);
  });

  test.each(Object.entries(histories))('%s', async (_, run) => {
    // The other plan of the history is written.
    expect(written).toEqual([]);
    const verb = await run();
    expect(written.map((line) => line.split(' ')[0])).toEqual([verb]);
  });
});

const lease = rows.findIndex(({ question }) => question.includes('the lease'));
/** What each attempt of a request is asked, in the order of the page. */
const asked = rows.slice(lease).flatMap(({ question, mark }) => {
  const refusal = refusals[question];
  return refusal === undefined ? [] : [{ question, mark, ...refusal }];
});
const competing = 'Does no competing controller write?';

test.each(asked)('the first no decides: $question', async ({ question, becomes }) => {
  void startWriter();
  const first = asked.findIndex((one) => one.question === question);
  for (const later of asked.slice(first)) {
    // While writes are paused, the claim is not renewed for them.
    if (later.question === question || later.question !== competing) await later.refuse();
  }
  await send(1);
  expect(await result(1)).toContain(becomes);
  expect(written).toEqual([]);
});

test.each(asked.slice(0, -1))(
  'the bytes leave only with a second yes if the page says so: $question',
  async ({ mark, refuse }) => {
    const left = Promise.withResolvers<void>();
    leaving = left.promise;
    void startWriter();
    await send(1);
    await refuse();
    left.resolve();
    await result(1);
    expect(written.length > 0).toBe(mark === undefined);
  },
);
