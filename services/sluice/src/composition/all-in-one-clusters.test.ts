import { type Bus, MemoryBus } from '@sluice/bus';
import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { Cluster } from '@sluice/fleet/clusters';
import type { RawObject } from '@sluice/kubernetes';
import { encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AllInOne, startAllInOne } from './all-in-one.ts';

let clock: VirtualClock;
let bus: Bus;
let fleet: AllInOne;
let synced: string[];
let a: FakeApiServer;
let b: FakeApiServer;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  synced = [];
  bus = new MemoryBus({ partitions: 2 });
  [a, b] = [world(1), world(2)];
  fleet = startAllInOne({
    ...{ clusters: [], partitions: 2, settings: defaultSettings, clock, random: seededRandom(3), logger: silentLogger },
    tap: (inner) => {
      bus = inner;
      return inner;
    },
    onSynced: ({ name }) => void synced.push(name),
  });
});

afterEach(() => fleet.stop(0));

function world(seed: number): FakeApiServer {
  const server = new FakeApiServer({ clock, random: seededRandom(seed) });
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', { metadata: { name: 'n' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  server.create('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  addPod(server, 1);
  return server;
}

function addPod(server: FakeApiServer, n: number): void {
  const ip = `10.0.0.${n}`;
  server.put('pods', {
    metadata: { name: `web-${n}`, namespace: 'shop', labels: { app: 'web' } },
    spec: { nodeName: 'n', containers: [] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

/** Ready addresses in the slices and in the Endpoints of a cluster. */
function addresses(server: FakeApiServer): readonly (readonly string[])[] {
  type Object = RawObject & {
    readonly endpoints?:
      | readonly { readonly addresses: readonly string[]; readonly conditions: { readonly ready: boolean } }[]
      | null;
    readonly subsets?: readonly { readonly addresses?: readonly { readonly ip: string }[] }[];
  };
  const items = (resource: 'endpoints' | 'endpointslices') => server.list(resource).items as unknown as Object[];
  return [
    items('endpointslices').flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap((one) => (one.conditions.ready ? one.addresses : [])),
    ),
    items('endpoints').flatMap(({ subsets = [] }) =>
      subsets.flatMap((one) => (one.addresses ?? []).map(({ ip }) => ip)),
    ),
  ].map((list) => list.toSorted());
}

const both = (...ips: string[]) => [ips, ips];

interface Served {
  readonly identity: string;
  /** Resolves when its work in progress is done. */
  remove(): Promise<void>;
  ended(): boolean;
}

function serve(server: FakeApiServer, name: string, faults = new FaultPlan()): Served {
  const client = new FakeClient(server, { clock, faults });
  const { identity } = server;
  const cluster: Cluster = { name, identity, reader: client, writer: client, record: () => {} };
  const stop = new AbortController();
  let ended = false;
  const done = fleet.serve(cluster, stop.signal).finally(() => {
    ended = true;
  });
  return {
    identity,
    ended: () => ended,
    async remove() {
      stop.abort('removed');
      await done;
    },
  };
}

const pass = (ms = 30_000) => advance(clock, ms);

test('added clusters are served independently', async () => {
  serve(a, 'a');
  await pass();
  addPod(b, 2);
  serve(b, 'b');
  await pass();
  expect(synced).toEqual(['a', 'b']);
  expect(addresses(a)).toEqual(both('10.0.0.1'));
  expect(addresses(b)).toEqual(both('10.0.0.1', '10.0.0.2'));
});

describe('a removed cluster', () => {
  test('keeps its objects and gets no further writes; the other cluster is served', async () => {
    const served = serve(a, 'a');
    serve(b, 'b');
    await pass();
    await served.remove();
    await fleet.removeCluster(served.identity);
    addPod(a, 2);
    addPod(b, 2);
    await pass();
    expect(addresses(a)).toEqual(both('10.0.0.1'));
    expect(addresses(b)).toEqual(both('10.0.0.1', '10.0.0.2'));
  });

  test('is removed after its writes in flight are done', async () => {
    const faults = new FaultPlan();
    const served = serve(a, 'a', faults);
    await pass();
    faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 10_000 });
    addPod(a, 2);
    await pass(3_000);
    const removed = served.remove();
    await pass(3_000);
    expect(served.ended()).toBe(false);
    await pass();
    await removed;
    expect(addresses(a)[0]).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test('catches up each time it is added again', async () => {
    for (let n = 2; n < 5; n++) {
      const served = serve(a, 'a');
      await pass();
      await served.remove();
      await fleet.removeCluster(served.identity);
      await pass();
      a.delete('pods', 'shop', `web-${n - 1}`);
      addPod(a, n);
      expect(addresses(a)).toEqual(both(`10.0.0.${n - 1}`));
    }
    serve(a, 'a');
    await pass();
    expect(addresses(a)).toEqual(both('10.0.0.4'));
  });
});

test('a recreated cluster starts from scratch and gets no writes of the one before', async () => {
  addPod(a, 9);
  const served = serve(a, 'a');
  await pass();
  await served.remove();
  await fleet.removeCluster(served.identity);
  expect(b.identity).not.toBe(a.identity);
  serve(b, 'a');
  await pass();
  expect(addresses(b)).toEqual(both('10.0.0.1'));
});

describe.each([
  ['from an earlier watcher', 1],
  ['from a later watcher', Date.parse('2030-01-01T00:00:00Z')],
])('a forged ClusterRemoved message %s', (_, epoch) => {
  test('removes nothing, and changes are still applied', async () => {
    const { identity } = serve(a, 'a');
    await pass();
    const before = a.resourceVersion;
    const payload = encodeMessage({ kind: 'clusterRemoved', cluster: identity, epoch });
    const forge = async () => {
      for (let partition = 0; partition < bus.partitions; partition++) {
        await bus.append('changes', partition, [{ key: identity, id: 'forged', headers: {}, payload }]);
      }
    };
    await forge();
    await pass();
    expect(a.resourceVersion).toBe(before);
    addPod(a, 2);
    // Also while writes are in flight.
    await forge();
    await pass();
    a.delete('pods', 'shop', 'web-1');
    await pass(120_000);
    expect(addresses(a)).toEqual(both('10.0.0.2'));
    expect(a.list('endpointslices').items).toHaveLength(1);
  });
});
