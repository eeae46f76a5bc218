import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { findMissingWrites } from './find-missing-writes.ts';

let clock: VirtualClock;
let server: FakeApiServer;

/**
 * Hints are requested but fail for one endpoint without a zone, so each decision rewrites every slice (F5, F6), and a
 * fresh start, which has no trigger times, sets one on all of them.
 */
beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: 'shop' } });
  for (const zone of ['a', 'b']) server.put('nodes', node(zone));
});

describe('findMissingWrites on a converged cluster', () => {
  test('ignores a lost trigger time', async () => {
    putConverged({ targetPort: 8080, ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] });
    expect(await missingWrites()).toEqual([]);
  });

  test('ignores one if no port resolves: the API server stores an empty list as null', async () => {
    putConverged({ targetPort: 'unknown', ports: [] });
    expect(server.list('endpointslices').items).toMatchObject([{ ports: null }]);
    expect(await missingWrites()).toEqual([]);
  });

  test('reports missing ports of a slice', async () => {
    putConverged({ targetPort: 8080, ports: [] });
    expect(await missingWrites()).toEqual([
      expect.stringMatching(/^update endpointslices shop\/web-x: .*null.*→.*8080/),
    ]);
  });

  test('reports a stale endpoint', async () => {
    putConverged({ targetPort: 'unknown', ports: [], ready: false });
    expect(await missingWrites()).toEqual([
      expect.stringMatching(/^update endpointslices shop\/web-x: .*false.*→.*true/),
    ]);
  });
});

async function missingWrites(): Promise<readonly string[]> {
  const cluster = new FakeClient(server, { clock });
  let missing: readonly string[] | undefined;
  const search = findMissingWrites({ reader: cluster, writer: cluster, clock, random: seededRandom(2) });
  const searched = search.then((lines) => {
    missing = lines;
  });
  const until = clock.now() + 60_000;
  do await new Promise((resolve) => setImmediate(resolve));
  while (missing === undefined && clock.step(until));
  await searched;
  return missing ?? [];
}

interface Written {
  readonly targetPort: number | string;
  readonly ports: readonly object[];
  readonly ready?: boolean;
}

const nodeOf = ['in-a', 'in-b', 'in-a', 'gone'];

/** A Service with a ready Pod on each of these nodes, and the objects written for them. */
function putConverged({ targetPort, ports, ready = true }: Written): void {
  const service = server.create('services', {
    metadata: { name: 'web', namespace: 'shop', annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    spec: { selector: { app: 'web' }, publishNotReadyAddresses: true, ports: [{ name: 'http', port: 80, targetPort }] },
  });
  const targets = nodeOf.map((nodeName, i) => {
    const [name, ip] = [`web-${i}`, `10.1.0.${i}`];
    const { metadata } = server.put('pods', pod(name, ip, nodeName));
    return { ip, nodeName, targetRef: { kind: 'Pod', namespace: 'shop', name, uid: metadata.uid } };
  });
  const { uid } = service.metadata;
  const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true, blockOwnerDeletion: true };
  server.create('endpointslices', {
    metadata: {
      name: 'web-x',
      namespace: 'shop',
      generateName: 'web-',
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [owner],
    },
    addressType: 'IPv4',
    endpoints: targets.map(({ ip, nodeName, targetRef }) => ({
      addresses: [ip],
      conditions: { ready: true, serving: ready, terminating: false },
      nodeName,
      targetRef,
      ...(nodeName !== 'gone' && { zone: nodeName.slice(-1) }),
    })),
    ports,
  });
  const subset = { addresses: targets, ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] };
  server.create('endpoints', {
    metadata: {
      name: 'web',
      namespace: 'shop',
      labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    },
    subsets: typeof targetPort === 'number' ? [subset] : [],
  });
}

function pod(name: string, ip: string, nodeName: string): RawObject {
  const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return {
    metadata: { name, namespace: 'shop', labels: { app: 'web' } },
    spec: { nodeName, containers: [{ name: 'main', image: 'x' }] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] },
  };
}

function node(zone: string): RawObject {
  return {
    metadata: { name: `in-${zone}`, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
