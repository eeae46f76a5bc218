import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AllInOne, startAllInOne } from './all-in-one.ts';

let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let fleet: AllInOne | undefined;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: 'shop' } });
  faults = new FaultPlan();
  for (const [name, zone] of [
    ['n1', 'a'],
    ['n2', 'b'],
  ] as const)
    server.put('nodes', node(name, zone));
});

afterEach(async () => {
  await fleet?.stop(0);
  fleet = undefined;
});

describe('all services in one process, on the fake API server', () => {
  test('a Pod becomes ready: its EndpointSlice and Endpoints follow', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', false));
    await start();
    expect(readyAddresses('web')).toEqual([]);
    expect(slices('web')).toHaveLength(1);
    setReady('web-1', true);
    await settle();
    expect(readyAddresses('web')).toEqual(['10.1.0.1']);
    expect(endpoints('web')?.subsets).toMatchObject([{ addresses: [{ ip: '10.1.0.1' }], ports: [{ port: 8080 }] }]);
  });

  test('a Service without Pods gets a placeholder slice and empty Endpoints', async () => {
    await start();
    server.create('services', service('lonely'));
    await settle();
    expect(slices('lonely')).toMatchObject([{ addressType: 'IPv4', endpoints: null }]);
    expect(endpoints('lonely')).toBeDefined();
  });

  test('nothing is written once converged, not even after a restart', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', true));
    await start();
    const before = server.resourceVersion;
    await settle();
    await fleet?.stop(0);
    await start();
    expect(server.resourceVersion).toBe(before);
  });

  test('a label move takes the Pod from one Service to the other', async () => {
    for (const name of ['web', 'db']) server.create('services', service(name));
    server.put('pods', pod('web-1', '10.1.0.1', true));
    await start();
    const stored = server.get('pods', 'shop', 'web-1') as unknown as { metadata: object };
    server.update('pods', { ...stored, metadata: { ...stored.metadata, labels: { app: 'db' } } } as RawObject);
    await settle();
    expect(readyAddresses('web')).toEqual([]);
    expect(readyAddresses('db')).toEqual(['10.1.0.1']);
  });

  test('a slice edited or deleted by a user is repaired', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', true));
    await start();
    const [slice] = slices('web');
    server.update('endpointslices', { ...slice, endpoints: [] } as unknown as RawObject);
    await settle();
    expect(readyAddresses('web')).toEqual(['10.1.0.1']);
    server.delete('endpointslices', 'shop', slices('web')[0]?.metadata.name ?? '');
    server.delete('endpoints', 'shop', 'web');
    await settle();
    expect(readyAddresses('web')).toEqual(['10.1.0.1']);
    expect(endpoints('web')?.subsets).toHaveLength(1);
  });

  test('Endpoints are deleted with their Service, but not merely because there is no Service', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', true));
    await start();
    server.delete('services', 'shop', 'web');
    await settle();
    expect(endpoints('web')).toBeUndefined();
    server.create('endpoints', { metadata: { name: 'early', namespace: 'shop' }, subsets: [] });
    await settle();
    expect(endpoints('early')).toBeDefined();
  });

  test('Endpoints that a user creates under the name of a deleted Service are kept', async () => {
    server.create('services', service('web'));
    server.create('endpoints', { metadata: { name: 'swept', namespace: 'shop' }, subsets: [] });
    await start();
    server.delete('services', 'shop', 'web');
    await settle();
    for (const name of ['web', 'swept']) {
      expect(endpoints(name)).toBeUndefined();
      server.create('endpoints', { metadata: { name, namespace: 'shop' }, subsets: [] });
    }
    await settle();
    for (const name of ['web', 'swept']) expect(endpoints(name)).toBeDefined();
  });

  test('Endpoints of a Service that was deleted during downtime are deleted at start', async () => {
    server.create('endpoints', { metadata: { name: 'left', namespace: 'shop' }, subsets: [] });
    await start();
    expect(endpoints('left')).toBeUndefined();
  });

  test('custom Endpoints of a Service without selector are mirrored', async () => {
    server.create('services', { ...service('ext'), spec: { ports: [{ port: 80 }] } });
    await start();
    const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80, protocol: 'TCP' }] }];
    server.create('endpoints', { metadata: { name: 'ext', namespace: 'shop' }, subsets });
    await settle();
    expect(readyAddresses('ext')).toEqual(['192.0.2.7']);
    server.delete('endpoints', 'shop', 'ext');
    await settle();
    expect(slices('ext')).toEqual([]);
  });

  test('a Pod is added once its Node exists', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', true, 'late'));
    await start();
    expect(readyAddresses('web')).toEqual([]);
    server.put('nodes', node('late', 'c'));
    await settle();
    expect(readyAddresses('web')).toEqual(['10.1.0.1']);
    expect(slices('web')[0]?.endpoints?.[0]).toMatchObject({ zone: 'c' });
  });

  test.each(['conflict', 'internal', 'alreadyexists', 'notfound'] as const)(
    'writes that fail with %s are made good',
    async (error) => {
      server.create('services', service('web'));
      server.put('pods', pod('web-1', '10.1.0.1', true));
      for (const resource of ['endpoints', 'endpointslices'] as const) {
        faults.add({ verb: error === 'alreadyexists' ? 'create' : 'update', resource, error, times: 3 });
      }
      await start();
      setReady('web-1', false);
      await settle();
      setReady('web-1', true);
      await settle();
      expect(readyAddresses('web')).toEqual(['10.1.0.1']);
      expect(slices('web')).toHaveLength(1);
    },
  );

  test('changes missed during an expired watch are found by a relist', async () => {
    server.create('services', service('web'));
    server.put('pods', pod('web-1', '10.1.0.1', true));
    server.put('pods', pod('web-2', '10.1.0.2', true));
    await start();
    server.delete('pods', 'shop', 'web-1');
    server.cutWatches('end');
    server.delete('pods', 'shop', 'web-2');
    server.put('pods', pod('web-3', '10.1.0.3', true));
    server.compact();
    await settle();
    expect(readyAddresses('web')).toEqual(['10.1.0.3']);
  });
});

async function start(): Promise<void> {
  const cluster = new FakeClient(server, { clock, faults });
  fleet = startAllInOne({
    clusters: [{ name: 'sim', identity: server.identity, reader: cluster, writer: cluster, record: () => {} }],
    settings: defaultSettings,
    clock,
    random: seededRandom(2),
    logger: silentLogger,
  });
  await settle();
  await fleet.synced;
}

const settle = () => advance(clock, 120_000);

interface Slice {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly addressType: string;
  readonly endpoints?: { readonly addresses: string[]; readonly conditions: { readonly ready: boolean } }[];
}

function slices(name: string): Slice[] {
  const { items } = server.list('endpointslices');
  return (items as unknown as Slice[]).filter(
    (slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name,
  );
}

function readyAddresses(name: string): string[] {
  const all = slices(name).flatMap((slice) => slice.endpoints ?? []);
  return all
    .filter(({ conditions }) => conditions.ready)
    .flatMap(({ addresses }) => addresses)
    .sort();
}

function endpoints(name: string): { readonly subsets?: unknown[] } | undefined {
  const { items } = server.list('endpoints');
  return (items as unknown as { metadata: { name: string }; subsets?: unknown[] }[]).find(
    (e) => e.metadata.name === name,
  );
}

function service(name: string): RawObject {
  return {
    metadata: { name, namespace: 'shop' },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}

function pod(name: string, ip: string, ready: boolean, nodeName = 'n1'): RawObject {
  return {
    metadata: { name, namespace: 'shop', labels: { app: name.split('-')[0] ?? '' } },
    spec: { nodeName, containers: [{ name: 'main', image: 'x' }] },
    status: podStatus(ip, ready),
  };
}

function podStatus(ip: string, ready: boolean) {
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] };
}

function setReady(name: string, ready: boolean): void {
  const stored = server.get('pods', 'shop', name) as unknown as { status: { podIP: string } };
  server.update('pods', { ...stored, status: podStatus(stored.status.podIP, ready) } as unknown as RawObject, {
    subresource: 'status',
  });
}

function node(name: string, zone: string): RawObject {
  return {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
