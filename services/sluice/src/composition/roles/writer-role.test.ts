import { MemoryBus } from '@sluice/bus';
import { ApiError, type ClusterWriter } from '@sluice/kubernetes';
import { encodeMessage, formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { unlimited } from '@sluice/writer';
import { expect, test } from 'vitest';
import { runWriterRole } from './writer-role.ts';

test('a partition is handed over despite an unresponsive cluster; the next owner repeats the requests in flight', async () => {
  const clock = new VirtualClock(1_000);
  const bus = new MemoryBus({ partitions: 1 });
  const shared = {
    bus,
    store: new MemoryStore(),
    leases: new MemoryLeases(clock),
    deadLetters: new MemoryDeadLetters(),
  };
  const written: string[] = [];
  const start = (member: string) => {
    const stop = new AbortController();
    const running = runWriterRole(
      {
        ...{ ...shared, member, clock, random: seededRandom(1), logger: silentLogger },
        leaseTimes: { ttlMs: 900, heartbeatMs: 250 },
        requests: new AbortController().signal,
        cluster: (identity) => ({
          writer: clusterOf(identity, (what) => written.push(`${member}: ${what}`)),
          limit: unlimited,
          record: () => {},
        }),
      },
      stop.signal,
    );
    return { stop, running };
  };
  const first = start('a');
  await advance(clock, 2_000);
  await bus.append('mutations', 0, [plan('silent', 'web', 1)]);
  await advance(clock, 100);
  expect(written).toEqual(['a: silent/web']);
  const second = start('b');
  await advance(clock, 2_000);
  first.stop.abort();
  await advance(clock, 100);
  await bus.append('mutations', 0, [plan('good', 'web', 2)]);
  await advance(clock, 3_000);
  expect(written).toEqual(['a: silent/web', 'b: silent/web', 'b: good/web']);
  await first.running;
  second.stop.abort();
  await advance(clock, 3_000);
  await second.running;
});

/** `silent` never responds; only an abort ends a request. */
function clusterOf(identity: string, onWrite: (what: string) => void): ClusterWriter {
  const write = async (object: { readonly metadata: { readonly name: string } }, signal: AbortSignal) => {
    const { name } = object.metadata;
    onWrite(`${identity}/${name}`);
    if (identity !== 'silent') return { name, uid: 'u', resourceVersion: '1', generation: 1 };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new ApiError('given up', { kind: 'retry', status: 0, reason: 'Aborted' });
  };
  return {
    get: () => Promise.reject(new Error('not asked for')),
    create: (_, object, signal) => write(object, signal),
    update: (_, object, signal) => write(object, signal),
    delete: async () => {},
  };
}

function plan(cluster: string, service: string, number: number) {
  const key = { cluster, namespace: 'shop', service };
  const object: EndpointSlice = {
    metadata: {
      name: service,
      namespace: 'shop',
      resourceVersion: '7',
      labels: { 'kubernetes.io/service-name': service },
    },
    ...{ addressType: 'IPv4', endpoints: [], ports: [] },
  };
  const mutations: PlannedMutations = {
    ...{ kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number }, events: [], incomplete: [] },
    groups: [{ mutations: [{ verb: 'update', resource: 'endpointslices', object }] }],
    ...{ serviceUid: 'u', causes: { first: [{ description: 'test', observedAt: 1 }], more: 0 }, decidedAt: 2 },
  };
  return { key: formatServiceKey(key), id: `${cluster}-${number}`, headers: {}, payload: encodeMessage(mutations) };
}
