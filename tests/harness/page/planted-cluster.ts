import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import { type ClusterReader, chainReader, mapWatch, type RawObject, type WatchStream } from '@sluice/kubernetes';
import { endpointSliceController, managedByLabel, serviceNameLabel } from '@sluice/model';
import { seededRandom, type VirtualClock } from '@sluice/platform';
import { nodeObject } from '../objects.ts';

interface PodState {
  readonly ip: string;
  readonly node: string;
  readonly owner: string;
  readonly ready: boolean;
}

interface PlantedService {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly targetPort: number | string;
  readonly pods: Map<string, PodState>;
}

const nodes = ['node-a1', 'node-b1', 'node-c1'];
const zoneOf = (node: string) => `zone-${node.at(-2)}`;

/** A cluster with its own controllers, in which a test plants what happens to Pods and slices. */
export class PlantedCluster {
  readonly name: string;
  readonly #server: FakeApiServer;
  readonly #clock: VirtualClock;
  readonly #services = new Map<string, PlantedService>();
  #pods = 0;

  constructor(name: string, seed: number, clock: VirtualClock) {
    this.name = name;
    this.#clock = clock;
    this.#server = new FakeApiServer({ clock, random: seededRandom(seed) });
    for (const node of nodes) this.#server.put('nodes', nodeObject(node, zoneOf(node)));
  }

  get identity(): string {
    return this.#server.identity;
  }

  get reader(): ClusterReader {
    const named = (object: RawObject) => withManager(object, new Date(this.#clock.now()).toISOString());
    return chainReader(new FakeClient(this.#server, { clock: this.#clock }), async (request, next) =>
      mapWatch(request, await next(request), async function* (stream: WatchStream) {
        for await (const events of stream)
          yield events.map((event) => ('object' in event ? { ...event, object: named(event.object) } : event));
      }),
    );
  }

  /** Adds a Service with ready Pods, which its slice shows. */
  addService(key: string, pods: number): void {
    const [namespace = '', name = ''] = key.split('/');
    if (!this.#server.list('namespaces').items.some(({ metadata }) => metadata.name === namespace))
      this.#server.create('namespaces', { metadata: { name: namespace } });
    this.#services.set(key, { namespace, name, selector: { app: name }, targetPort: 'http', pods: new Map() });
    this.setService(key, {});
    for (let i = 0; i < pods; i++) this.addPod(key, `${name}-7d9c5b`, true);
    this.writeSlice(key);
  }

  /** Changes what the Service selects, or which port of its Pods it names. */
  setService(key: string, changed: Partial<Pick<PlantedService, 'selector' | 'targetPort'>>): void {
    const service = { ...this.#serviceOf(key), ...changed };
    this.#services.set(key, service);
    const { namespace, name, selector, targetPort } = service;
    const clusterIP = `10.96.0.${[...this.#services.keys()].indexOf(key) + 10}`;
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort }];
    this.#server.put('services', {
      metadata: { namespace, name },
      spec: { type: 'ClusterIP', clusterIP, selector, ports },
    });
  }

  /** Returns the name of the Pod. */
  addPod(key: string, owner: string, ready: boolean, waiting?: string): string {
    const number = ++this.#pods;
    const name = `${owner}-${suffix(number)}`;
    const [ip, node] = [`10.244.${number >> 8}.${number & 255}`, nodes[number % nodes.length] ?? ''];
    this.#serviceOf(key).pods.set(name, { ip, node, owner, ready });
    this.setPod(key, name, ready, waiting);
    return name;
  }

  podsOf(key: string): readonly string[] {
    return [...this.#serviceOf(key).pods.keys()];
  }

  /** `waiting`: why its only container waits. */
  setPod(key: string, pod: string, ready: boolean, waiting?: string): void {
    const { namespace, name: app, pods } = this.#serviceOf(key);
    const { ip, node, owner } = pods.get(pod) ?? { ip: '', node: '', owner: '' };
    pods.set(pod, { ip, node, owner, ready });
    const lastTransitionTime = new Date(this.#clock.now()).toISOString();
    const reason = ready ? {} : { reason: 'ContainersNotReady' };
    const state = waiting === undefined ? { running: {} } : { waiting: { reason: waiting } };
    const restartCount = waiting === undefined ? 0 : 3;
    this.#server.put('pods', {
      metadata: {
        ...{ namespace, name: pod, labels: { app } },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }],
      },
      spec: {
        nodeName: node,
        containers: [{ name: 'app', image: 'app', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      },
      status: {
        ...{ phase: 'Running', podIP: ip, podIPs: [{ ip }] },
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime, ...reason }],
        containerStatuses: [{ name: 'app', image: 'app', imageID: '', ready, restartCount, state }],
      },
    });
  }

  deletePod(key: string, pod: string): void {
    const { namespace, pods } = this.#serviceOf(key);
    pods.delete(pod);
    this.#server.delete('pods', namespace, pod, { gracePeriodSeconds: 0 });
  }

  /** Writes what the controllers would write. */
  writeSlice(key: string): void {
    const { namespace, name, selector, pods, targetPort } = this.#serviceOf(key);
    const isSelected = selector.app === name;
    const hasPort = typeof targetPort === 'number' || targetPort === 'http';
    const endpoints = [...(isSelected ? pods : [])].map(([pod, { ip, node, ready }]) => ({
      ...{ addresses: [ip], nodeName: node, zone: zoneOf(node) },
      conditions: { ready, serving: ready, terminating: false },
      targetRef: { kind: 'Pod', namespace, name: pod, uid: this.#server.get('pods', namespace, pod).metadata.uid },
    }));
    this.#server.put('endpointslices', {
      metadata: {
        ...{ namespace, name: `${name}-x7k2p` },
        labels: { [serviceNameLabel]: name, [managedByLabel]: endpointSliceController },
      },
      addressType: 'IPv4',
      ports: hasPort ? [{ name: 'http', protocol: 'TCP', port: 8080 }] : [],
      endpoints,
    });
  }

  #serviceOf(key: string): PlantedService {
    const service = this.#services.get(key);
    if (service === undefined) throw new Error(`no Service ${key}`);
    return service;
  }
}

/** The server of tests does not keep who wrote an object. */
function withManager(object: RawObject, time: string): RawObject {
  if (!('endpoints' in object)) return object;
  const managedFields = [{ manager: 'kube-controller-manager', operation: 'Update', time }];
  return { ...object, metadata: { ...(object.metadata as RawObject), managedFields } };
}

/** As the names of Pods end: different for each number, and always the same. */
function suffix(number: number): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  let rest = number * 7_919_317 + 1_299_709;
  return Array.from({ length: 5 }, () => {
    const letter = letters[rest % letters.length];
    rest = Math.floor(rest / letters.length);
    return letter;
  }).join('');
}
