import { type FakeApiServer, isStatusError, type StoredObject } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord, type Clock, type Random, randomInteger } from '@sluice/platform';
import { namespace as defaultNamespace, nodeObject, podObject } from './objects.ts';
import { putNode } from './put-node.ts';

/** Something that a user does, more often the greater its weight. */
export interface Action {
  readonly weight: number;
  readonly run: () => void;
}

const apps = ['web', 'db', 'mail'];
const serviceNames = ['web', 'db', 'mail', 'ext', 'all'];
const podNumbers = 14;
const nodeNames = ['n0', 'n1', 'n2', 'n3'];
const serviceName = 'kubernetes.io/service-name';
const managedBy = 'endpointslice.kubernetes.io/managed-by';
/** Immutable fields of an existing Service. */
const keptOfSpec = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

export interface RandomUserOptions {
  /** Whether it also changes single fields of Services. */
  readonly editsFields?: boolean;
  /** Default: that of the test objects. */
  readonly namespace?: string;
  /** Further actions. */
  readonly more?: readonly Action[];
}

/** Acts randomly as users, the scheduler and kubelets, and edits slices as users should not. */
export class RandomUser {
  readonly #server: FakeApiServer;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #actions: readonly Action[];
  readonly #namespace: string;
  #addresses = 0;
  #contentEdits = 0;

  constructor(server: FakeApiServer, random: Random, clock: Clock, options: RandomUserOptions = {}) {
    const { editsFields = false, namespace = defaultNamespace, more = [] } = options;
    this.#namespace = namespace;
    this.#server = server;
    this.#random = random;
    this.#clock = clock;
    this.#actions = [
      { weight: 6, run: () => this.#putService() },
      ...(editsFields ? [{ weight: 3, run: () => this.#editService() }] : []),
      { weight: 2, run: () => this.#deleteAny('services') },
      { weight: 8, run: () => this.#putPod() },
      { weight: 8, run: () => this.#flipPod() },
      { weight: 4, run: () => this.#deletePod() },
      { weight: 2, run: () => this.#putNode() },
      { weight: 1, run: () => this.#deleteAny('nodes') },
      { weight: 4, run: () => this.#putEndpoints() },
      { weight: 2, run: () => this.#deleteAny('endpoints') },
      { weight: 4, run: () => this.#editSlice() },
      { weight: 4, run: () => this.#deleteAny('endpointslices') },
      { weight: 1, run: () => this.#putSliceOfOthers() },
      ...more,
    ];
  }

  /** How often it changed the content of a slice. */
  get contentEdits(): number {
    return this.#contentEdits;
  }

  /** Creates a few initial objects. */
  createInitialObjects(): void {
    const now = this.#clock.now();
    for (const name of ['n0', 'n1', 'n2'] as const)
      putNode(this.#server, nodeObject(name, this.#pick(['a', 'b'])), now);
    for (let i = 0; i < 3; i++) this.#putService();
    for (let i = 0; i < 6; i++) this.#putPod();
  }

  step(): void {
    const total = this.#actions.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#random.next() * total;
    const action = this.#actions.find(({ weight }) => {
      at -= weight;
      return at < 0;
    });
    try {
      action?.run();
    } catch (error) {
      // A rejected request has no effect.
      if (!isStatusError(error)) throw error;
    }
  }

  #putService(): void {
    const name = this.#pick(serviceNames);
    const old = this.#all('services').find((service) => service.metadata.name === name);
    const oldSpec = (old?.spec ?? {}) as Record<string, unknown>;
    const kept = Object.fromEntries(Object.entries(oldSpec).filter(([key]) => keptOfSpec.includes(key)));
    const object = {
      metadata: {
        name,
        namespace: this.#namespace,
        labels: this.#pick([{}, { team: 'x' }, { team: 'y', env: 'z' }]),
        annotations: this.#pick([{}, {}, { 'service.kubernetes.io/topology-mode': 'Auto' }]),
      },
      spec: {
        ...(old === undefined ? this.#pick([{}, {}, dualStack, ipv6, { clusterIP: 'None' }]) : kept),
        ...(this.#chance(0.8) && { selector: this.#selector(name) }),
        ...(this.#chance(0.05) && { type: 'ExternalName', externalName: 'example.org' }),
        ports: this.#pick([onePort, onePort, namedPort, twoPorts]),
        publishNotReadyAddresses: this.#chance(0.15),
        ...(this.#chance(0.2) && { trafficDistribution: this.#pick(['PreferSameZone', 'PreferSameNode']) }),
      },
    };
    if (old === undefined) this.#server.create('services', object);
    else this.#server.update('services', object);
  }

  /** Changes one field, so that nothing else leads to a write. */
  #editService(): void {
    const service = this.#any('services');
    if (service === undefined) return;
    const spec = asRecord(service.spec);
    const edited = this.#pick([
      { trafficDistribution: this.#pick(['', 'PreferClose', 'PreferSameZone', 'PreferSameNode']) || undefined },
      { publishNotReadyAddresses: !spec.publishNotReadyAddresses },
      { ports: this.#pick([onePort, namedPort, twoPorts]) },
    ]);
    this.#server.update('services', { ...service, spec: { ...spec, ...edited } });
  }

  #selector(name: string): Record<string, string> {
    if (name === 'all') return { tier: 'front' };
    return this.#chance(0.8) ? { app: apps.includes(name) ? name : 'web' } : { app: this.#pick(apps), tier: 'front' };
  }

  #putPod(): void {
    const name = `p${randomInteger(this.#random, 1, podNumbers)}`;
    const old = this.#all('pods').find((pod) => pod.metadata.name === name);
    // Replaces a Pod by another one of the same name, as a StatefulSet does.
    const again = old !== undefined && this.#chance(0.3);
    if (again) this.#server.delete('pods', this.#namespace, name, { gracePeriodSeconds: 0 });
    const number = ++this.#addresses;
    const four = `10.1.${number >> 8}.${number & 255}`;
    this.#server.put(
      'pods',
      podObject({
        name,
        namespace: this.#namespace,
        labels: { app: this.#pick(apps), ...(this.#chance(0.4) && { tier: 'front' }) },
        ips: this.#pick([[four], [four], [four, `fd00::${number.toString(16)}`], []]),
        ready: this.#chance(0.7),
        node: this.#pick(nodeNames),
        since: this.#now(),
        phase: this.#chance(0.05) ? 'Succeeded' : 'Running',
        ...(this.#chance(0.8) && { httpPort: this.#pick([8080, 8080, 9090]) }),
      }),
    );
  }

  #flipPod(): void {
    const pod = this.#any('pods');
    if (pod === undefined) return;
    const status = pod.status as { readonly conditions?: readonly { readonly status: string }[] };
    const ready = status.conditions?.[0]?.status === 'True' ? 'False' : 'True';
    const conditions = [{ type: 'Ready', status: ready, lastTransitionTime: this.#now() }];
    this.#server.put('pods', { ...pod, status: { ...status, conditions } } as RawObject);
  }

  #deletePod(): void {
    const pod = this.#any('pods');
    if (pod === undefined) return;
    // With a grace period first, immediately the second time.
    const terminating = pod.metadata.deletionTimestamp !== undefined;
    const gracePeriodSeconds = terminating || this.#chance(0.4) ? 0 : 30;
    this.#server.delete('pods', this.#namespace, pod.metadata.name, { gracePeriodSeconds });
  }

  #putNode(): void {
    const given = { ready: this.#chance(0.9), cpu: this.#pick(['4', '8']) };
    const node = nodeObject(this.#pick(nodeNames), this.#pick(['a', 'b', 'c', '']), given);
    putNode(this.#server, node, this.#clock.now());
  }

  /** Custom Endpoints if the Service has no selector; otherwise an edit of the controller's Endpoints. */
  #putEndpoints(): void {
    const service = this.#any('services');
    if (service === undefined) return;
    const { name } = service.metadata;
    const ips = Array.from({ length: randomInteger(this.#random, 0, 3) }, (_, i) => `192.0.2.${i + 1}`);
    const addresses = [...ips.map((ip) => ({ ip })), ...(this.#chance(0.3) ? [{ ip: 'fd01::7' }] : [])];
    const ports = [{ name: 'http', port: this.#pick([80, 81]), protocol: 'TCP' }];
    const subsets = addresses.length === 0 ? [] : [{ addresses, ports }];
    const labels = this.#pick([{}, {}, { team: 'x' }, { 'endpointslice.kubernetes.io/skip-mirror': 'true' }]);
    const old = this.#all('endpoints').find((endpoints) => endpoints.metadata.name === name);
    // No API server takes a deletion back.
    if (old?.metadata.deletionTimestamp !== undefined) return;
    this.#server.put('endpoints', { metadata: { name, namespace: this.#namespace, labels }, subsets });
  }

  #editSlice(): void {
    const slice = this.#any('endpointslices');
    if (slice === undefined) return;
    const { labels, ...metadata } = slice.metadata;
    const relabelled = (change: Record<string, string>) => ({
      ...slice,
      metadata: { ...metadata, labels: { ...labels, ...change } },
    });
    const edited = this.#pick<() => RawObject>([
      () => ({ ...slice, endpoints: [] }),
      () => ({ ...slice, ports: [{ name: 'odd', port: 1, protocol: 'TCP' }] }),
      () => relabelled({ mine: 'yes' }),
      () => relabelled({ [serviceName]: this.#pick(serviceNames) }),
      () => relabelled({ [managedBy]: 'somebody' }),
      () => ({ ...slice, metadata: { ...slice.metadata, annotations: { note: this.#pick(['a', 'b']) } } }),
    ])();
    const stored = this.#server.update('endpointslices', edited);
    if (stored.metadata.generation !== slice.metadata.generation) this.#contentEdits += 1;
  }

  /** A slice of another controller, of none, or with our label but no owner. */
  #putSliceOfOthers(): void {
    const labels = {
      [serviceName]: this.#pick(serviceNames),
      ...this.#pick<Record<string, string>>([
        {},
        { [managedBy]: 'cni' },
        { [managedBy]: 'endpointslice-controller.k8s.io' },
      ]),
    };
    this.#server.create('endpointslices', {
      metadata: { generateName: 'other-', namespace: this.#namespace, labels },
      addressType: this.#pick(['IPv4', 'FQDN']),
      endpoints: [],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
  }

  #deleteAny(resource: 'services' | 'nodes' | 'endpoints' | 'endpointslices'): void {
    const object = this.#any(resource);
    if (object === undefined) return;
    this.#server.delete(resource, object.metadata.namespace ?? '', object.metadata.name);
  }

  #all(resource: 'services' | 'pods' | 'nodes' | 'endpoints' | 'endpointslices'): readonly StoredObject[] {
    const { items } = this.#server.list(resource);
    return resource === 'nodes' ? items : items.filter(({ metadata }) => metadata.namespace === this.#namespace);
  }

  #any(resource: 'services' | 'pods' | 'nodes' | 'endpoints' | 'endpointslices'): StoredObject | undefined {
    const all = this.#all(resource);
    return all.length === 0 ? undefined : this.#pick(all);
  }

  #pick<T>(from: readonly T[]): T {
    const chosen = from[Math.floor(this.#random.next() * from.length)];
    if (chosen === undefined) throw new RangeError('cannot pick from an empty list');
    return chosen;
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #now(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
  }
}

const dualStack = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };
const ipv6 = { ipFamilies: ['IPv6'] };
const onePort = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
const namedPort = [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }];
const twoPorts = [...onePort, { name: 'tls', port: 443, targetPort: 8443, protocol: 'TCP' }];
