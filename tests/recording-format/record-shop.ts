import { tapBus } from '@sluice/console';
import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { chainReader, mapWatch, type RawObject } from '@sluice/kubernetes';
import { asRecord, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { RecordConverter, RecordingDirectory } from '@sluice/recording';
import { startFleet } from '../harness/fleet.ts';
import { namespace, nodeObject, podObject } from '../harness/objects.ts';
import { putNode } from '../harness/put-node.ts';

/** What the recording is of. */
export const shop = {
  cluster: 'prod',
  services: ['cart', 'checkout', 'legacy', 'search'],
  node: 'node-b',
} as const;

const start = Date.parse('2026-01-15T09:00:00Z');
const zones = { 'node-a': 'zone-a', 'node-b': 'zone-b' };

/** Records half an hour of a small cluster to a new directory: always the same, with everything that the format has a place for. */
export async function recordShop(directory: string): Promise<void> {
  const clock = new VirtualClock(start);
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
  const recording = new RecordingDirectory(directory, { version: '0.1.0', limits });
  recording.nameCluster(server.identity, shop.cluster);
  const converter = new RecordConverter(silentLogger);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const sink: Parameters<typeof tapBus>[2] = {
    add(topic, record) {
      const headers = topic === 'mutations' ? { traceparent } : {};
      const converted = converter.convert(topic, { ...record, headers, payload: record.payload }, clock.now());
      if (converted !== undefined) recording.append([converted], clock.now());
    },
  };
  const faults = new FaultPlan();
  const managers = new Map<unknown, string>();
  const fleet = startFleet({
    ...{ server, clock, seed: 1, faults, recordEachEvent: true, wrapBus: (bus) => tapBus(bus, undefined, sink) },
    // The server of tests does not keep who wrote an object.
    wrapReader: (reader) =>
      chainReader(reader, async (request, next) =>
        mapWatch(request, await next(request), async function* (stream) {
          for await (const events of stream)
            yield events.map((event) =>
              'object' in event ? { ...event, object: withManager(event.object, managers) } : event,
            );
        }),
      ),
  });
  await act(new Shop(server, clock), { clock, faults, managers });
  await fleet.stop();
  recording.close(clock.now(), converter.open);
}

function withManager(object: RawObject, managers: ReadonlyMap<unknown, string>): RawObject {
  const metadata = asRecord(object.metadata);
  const manager = managers.get(metadata.resourceVersion) ?? 'sluice';
  const managedFields = [{ manager, operation: 'Update', time: '2026-01-15T09:00:00Z' }];
  return { ...object, metadata: { ...metadata, managedFields } };
}

class Shop {
  readonly server: FakeApiServer;
  readonly #clock: VirtualClock;
  #addresses = 0;

  constructor(server: FakeApiServer, clock: VirtualClock) {
    this.server = server;
    this.#clock = clock;
    server.create('namespaces', { metadata: { name: namespace } });
    for (const node of ['node-a', 'node-b'] as const) this.setNode(node, true);
  }

  setNode(name: keyof typeof zones, ready: boolean): void {
    putNode(this.server, nodeObject(name, zones[name], { ready }), this.#clock.now());
  }

  putService(name: string, spec: RawObject): void {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }];
    this.server.create('services', { metadata: { name, namespace }, spec: { ports, ...spec } });
  }

  putPod(app: string, name: string, node: keyof typeof zones, ready = true): void {
    const owner = `${app}-${name.split('-')[1]}`;
    const old = this.server.list('pods').items.find(({ metadata }) => metadata.name === name);
    const ip = old === undefined ? `10.244.0.${++this.#addresses}` : String(asRecord(old.status).podIP);
    const since = new Date(this.#clock.now()).toISOString();
    const pod = podObject({ name, labels: { app }, ips: [ip], ready, node, since, httpPort: 8080 });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }];
    this.server.put('pods', { ...pod, metadata: { ...asRecord(pod.metadata), ownerReferences } });
  }

  deletePod(name: string): void {
    this.server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
  }
}

interface World {
  readonly clock: VirtualClock;
  readonly faults: FaultPlan;
  /** Who wrote a resourceVersion of an EndpointSlice, unless it was Sluice. */
  readonly managers: Map<unknown, string>;
}

async function act(cluster: Shop, { clock, faults, managers }: World): Promise<void> {
  const { server } = cluster;
  const minutes = (count: number) => advance(clock, count * 60_000);
  for (const app of ['cart', 'checkout', 'search']) {
    cluster.putService(app, { selector: { app } });
    for (const node of ['node-a', 'node-b'] as const) cluster.putPod(app, `${app}-7d9c-${node.at(-1)}`, node);
  }
  // A Service without a selector, whose Endpoints are mirrored.
  cluster.putService('legacy', {});
  const subsets = [{ addresses: [{ ip: '192.0.2.10' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }];
  server.create('endpoints', { metadata: { name: 'legacy', namespace }, subsets });
  await minutes(2);

  // From now on, each write takes a while.
  faults.add({ verb: 'update', latencyMs: 12 });

  // No Pod of checkout is ready for some minutes.
  for (const node of ['node-a', 'node-b'] as const) {
    cluster.putPod('checkout', `checkout-7d9c-${node.at(-1)}`, node, false);
    await advance(clock, 2_000);
  }
  await minutes(3);
  cluster.putPod('checkout', 'checkout-7d9c-a', 'node-a');
  await minutes(1);

  // A rollout of cart.
  for (const node of ['node-a', 'node-b'] as const) {
    const [old, next] = [`cart-7d9c-${node.at(-1)}`, `cart-5f8c-${node.at(-1)}`];
    cluster.putPod('cart', next, node, false);
    await advance(clock, 20_000);
    cluster.putPod('cart', next, node);
    await advance(clock, 500);
    cluster.deletePod(old);
    await advance(clock, 5_000);
  }

  // A Node is lost, with the Pods on it, and one write takes long.
  faults.add({ verb: 'update', resource: 'endpointslices', times: 1, latencyMs: 45_000 });
  cluster.setNode('node-b', false);
  await advance(clock, 1_000);
  for (const pod of ['cart-5f8c-b', 'search-7d9c-b']) cluster.putPod(pod.split('-')[0] ?? '', pod, 'node-b', false);
  await minutes(4);
  cluster.setNode('node-b', true);
  for (const pod of ['cart-5f8c-b', 'search-7d9c-b']) cluster.putPod(pod.split('-')[0] ?? '', pod, 'node-b');
  await minutes(2);

  // What is still wrong at the end.
  const search = server.get('services', namespace, 'search');
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'https' }];
  server.update('services', { ...search, spec: { ...asRecord(search.spec), ports } });
  for (const manager of ['mesh-sync', 'gitops', 'mesh-sync', 'gitops']) {
    const slice = server
      .list('endpointslices')
      .items.find(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'cart');
    if (slice === undefined) throw new Error('cart has no EndpointSlice');
    const labels = { ...slice.metadata.labels, owner: manager };
    const written = server.update('endpointslices', { ...slice, metadata: { ...slice.metadata, labels } });
    managers.set(written.metadata.resourceVersion, manager);
    await advance(clock, 10_000);
  }
  cluster.putPod('checkout', 'checkout-7d9c-a', 'node-a', false);
  await minutes(2);
}
