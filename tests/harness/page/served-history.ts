import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClusterView, createConsole, History } from '@sluice/console';
import {
  type Change,
  encodeMessage,
  type Fact,
  formatServiceKey,
  type Outcome,
  type PlannedMutations,
} from '@sluice/messages';
import { type EndpointSlice, endpointSliceController, managedByLabel, serviceNameLabel } from '@sluice/model';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';

export interface ServedHistory {
  readonly url: string;
  /** Makes the first Pod of the Service not ready, including the write. Default: in the first cluster. */
  flip(service: string, cluster?: string): void;
  stop(): Promise<void>;
}

const pods = [0, 1, 2, 3, 4];

/** Serves a history of Services `svc-00000` and so on with five Pods each in each cluster, as encoded records. */
export async function serveHistory(services: number, clusters: readonly ClusterView[] = []): Promise<ServedHistory> {
  const identities = clusters.length === 0 ? ['cluster-uid'] : clusters.map(({ identity }) => identity);
  const [firstCluster = ''] = identities;
  const ports = { clock: systemClock, logger: silentLogger };
  const history = new History(ports);
  const add = (message: Change | PlannedMutations | Outcome) =>
    history.add(message.kind === 'mutations' ? 'mutations' : 'changes', 0, {
      ...{ id: 'any', key: formatServiceKey(message.key), headers: {}, payload: encodeMessage(message) },
    });
  for (let i = 0; i < services; i++) {
    for (const cluster of identities) add(snapshotOf(cluster, `svc-${String(i).padStart(5, '0')}`));
  }
  const console = await createConsole({
    ...ports,
    history,
    sources: { clusters: () => clusters },
    access: { hosts: [] },
    lostClusters: { action: 'age-out', maxAgeMs: 600_000 },
    version: '0.0.0',
  });
  const server = createServer((request, response) => console.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    flip: (service, cluster = firstCluster) => flipOf(cluster, service, systemClock.now()).forEach(add),
    async stop() {
      await console.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The snapshot of a Service with its Pods and slice. */
function snapshotOf(cluster: string, name: string): Change {
  return {
    kind: 'change',
    key: keyOf(cluster, name),
    stamp: { epoch: 1, sequence: 1 },
    facts: [
      {
        kind: 'service',
        service: {
          ...{ namespace: 'shop', name, uid: `${name}-uid`, creationTimestamp: '2026-01-01T00:00:00Z' },
          ...{ deleting: false, labels: {}, annotations: {}, type: 'ClusterIP', selector: { app: name } },
          ...{ clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], ports: [] },
          ...{ publishNotReadyAddresses: false, trafficDistribution: null },
        },
      },
      ...pods.map((pod) => podFact(name, pod, true)),
      sliceFact(name, '1', true),
    ],
    causes: { first: [], more: 0 },
    snapshot: { first: true, last: true, initial: true, resourceVersions: { endpoints: '1', endpointslices: '1' } },
  };
}

/** Change, plan and Outcome of the first Pod becoming not ready. */
function flipOf(cluster: string, name: string, at: number): readonly (Change | PlannedMutations | Outcome)[] {
  const key = keyOf(cluster, name);
  const causes = { first: [{ description: `Pod shop/${name}-0 became not ready`, observedAt: at }], more: 0 };
  const plan = { key, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, causes, decidedAt: at } as const;
  const object = sliceOf(name, '1', false);
  const written = { group: 0, index: 0, verb: 'update', resource: 'endpointslices', name: `${name}-slice` } as const;
  const stored = { uid: `${name}-slice-uid`, resourceVersion: '2', generation: 2 };
  return [
    { kind: 'change', key, stamp: { epoch: 1, sequence: 2 }, facts: [podFact(name, 0, false)], causes },
    {
      ...{ kind: 'mutations', ...plan, events: [], incomplete: [], serviceUid: `${name}-uid` },
      groups: [{ mutations: [{ verb: 'update', resource: 'endpointslices', object }] }],
    },
    {
      ...{ kind: 'outcome', ...plan, status: 'applied', message: '', completedAt: at + 5, retries: 0 },
      results: [{ ...written, status: 'applied', stored }],
    },
    // The watcher reports what was written.
    { kind: 'change', key, stamp: { epoch: 1, sequence: 3 }, facts: [sliceFact(name, '2', false)], causes },
  ];
}

const keyOf = (cluster: string, service: string) => ({ cluster, namespace: 'shop', service });

function podFact(service: string, pod: number, ready: boolean): Fact {
  const [name, ip] = [`${service}-${pod}`, `10.1.0.${pod}`];
  return {
    ...{ kind: 'pod', name, node: { zone: 'zone-a' } },
    pod: {
      ...{ namespace: 'shop', name, uid: `${name}-uid`, ip, ips: [ip], nodeName: 'n1', hostname: '', subdomain: '' },
      ...{ terminal: false, terminating: false, ready, readyTransitionTime: '2026-01-01T00:00:00Z', ports: [] },
    },
  };
}

function sliceFact(service: string, resourceVersion: string, ready: boolean): Fact {
  const slice = sliceOf(service, resourceVersion, ready);
  return { kind: 'slice', name: `${service}-slice`, uid: `${service}-slice-uid`, slice };
}

function sliceOf(service: string, resourceVersion: string, ready: boolean): EndpointSlice {
  const labels = { [serviceNameLabel]: service, [managedByLabel]: endpointSliceController };
  return {
    metadata: { name: `${service}-slice`, namespace: 'shop', uid: `${service}-slice-uid`, resourceVersion, labels },
    addressType: 'IPv4',
    ports: [],
    endpoints: pods.map((pod) => ({
      ...{ addresses: [`10.1.0.${pod}`], nodeName: 'n1', zone: 'zone-a' },
      conditions: { ready: ready || pod > 0, serving: ready || pod > 0, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'shop', name: `${service}-${pod}`, uid: `${service}-${pod}-uid` },
    })),
  };
}
