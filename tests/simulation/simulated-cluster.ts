import { FakeApiServer, FaultPlan, type StoredObject } from '@sluice/fake-apiserver';
import { type Random, randomInteger, seededRandom, type VirtualClock } from '@sluice/platform';
import { nodeObject, podObject } from '../harness/objects.ts';
import { RandomUser } from '../harness/random-user.ts';
import { MalformedObjects } from './doubles/malformed-objects.ts';
import { SmallUser } from './exhaustive/small-user.ts';
import { ClusterView } from './reference/cluster-view.ts';
import { finishInputs, isUnfinished, uncommonInputs } from './uncommon-inputs.ts';

export const steadyServices = ['steady-a', 'steady-b'] as const;
const steadyPods = 3;
/** How long a finalizer stays after the end of the inputs, in milliseconds. */
const finalizedAfterMs = 100;
/** When users create namespaces again that a restored backup lacks, in milliseconds. */
const recreatedAfterMs = 500;
/** Namespaces of users. Both have objects of the same names. */
const userNamespaces = ['shop', 'blog'] as const;
const malformable = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'] as const;
export const steadyNamespace = 'steady';

/** A version of a written object; undefined: it was deleted. */
export interface ObjectVersion {
  readonly atMs: number;
  /** Undefined: it was deleted. */
  readonly object: StoredObject | undefined;
  /** What was deleted: its response to the write that removed the last finalizer of a deleted object. */
  readonly last?: StoredObject;
}

export interface ClusterOptions {
  /** Number of namespaces of users. */
  readonly namespaces: number;
  readonly small?: boolean | undefined;
}

/** An API server with its users. */
export class SimulatedCluster {
  readonly name: string;
  readonly server: FakeApiServer;
  readonly view: ClusterView;
  readonly faults: FaultPlan;
  readonly malformed = new MalformedObjects();
  /** Versions of the written objects, oldest first, by resource and name. */
  readonly versions = new Map<string, ObjectVersion[]>();
  readonly #clock: VirtualClock;
  readonly #namespaces: readonly string[];
  readonly #users: readonly (RandomUser | SmallUser)[];
  /** The user draws from the seed of the current event. */
  #random: Random;
  #restores = 0;
  #touches = 0;
  #backup: ReturnType<FakeApiServer['backup']> | undefined;

  constructor(index: number, clock: VirtualClock, seed: number, { namespaces, small = false }: ClusterOptions) {
    this.#namespaces = userNamespaces.slice(0, namespaces);
    this.name = `cluster-${index}`;
    this.#clock = clock;
    this.#random = seededRandom(seed + 1);
    this.server = new FakeApiServer({ clock, random: seededRandom(seed + 2), bookmarkIntervalMs: 20_000 });
    for (const name of [...this.#namespaces, steadyNamespace]) this.server.create('namespaces', { metadata: { name } });
    this.view = new ClusterView(this.server);
    this.faults = new FaultPlan([], seededRandom(seed + 3));
    this.#users = small
      ? [new SmallUser(this.server, () => clock.now())]
      : this.#namespaces.map((namespace) => this.#userOf(namespace));
    this.server.onCommit((resource, { type, object }) => {
      if (resource !== 'endpoints' && resource !== 'endpointslices') return;
      const key = `${resource}/${object.metadata.namespace}/${object.metadata.name}`;
      const versions = this.versions.get(key) ?? [];
      versions.push(
        type === 'DELETED' ? { atMs: clock.now(), object: undefined, last: object } : { atMs: clock.now(), object },
      );
      this.versions.set(key, versions);
    });
    for (const user of this.#users) user.createInitialObjects();
    if (!small) this.#createSteady();
  }

  get identity(): string {
    return this.server.identity;
  }

  /** A few actions of users, the scheduler and kubelets. */
  act(random: Random): void {
    this.#random = random;
    const user = this.#users[Math.floor(random.next() * this.#users.length)];
    const steps = user instanceof SmallUser ? 1 : randomInteger(random, 1, 3);
    for (let n = steps; n > 0; n--) user?.step();
  }

  /** Changes the readiness of a Pod of a steady Service. */
  flipSteady(random: Random): void {
    const name = steadyServices[randomInteger(random, 0, steadyServices.length - 1)] ?? '';
    this.#putSteady(name, 0, random.next() < 0.5);
  }

  /** A user deletes slices, which are then created again. */
  deleteSlices(random: Random): void {
    for (const { metadata } of this.server.list('endpointslices').items) {
      const { namespace = '', name } = metadata;
      if (namespace !== steadyNamespace && random.next() < 0.7) this.server.delete('endpointslices', namespace, name);
    }
  }

  takeBackup(): void {
    this.#backup = this.server.backup();
  }

  restoreBackup(): void {
    if (this.#backup === undefined) return;
    // Without a bump of the revision a restore shows late or, after as many changes, never (ADR 0051).
    this.server.restore(this.#backup, ++this.#restores * 1_000_000);
    this.view.reload();
    this.versions.clear();
    // The backup may lack namespaces, or have some that are being deleted.
    this.#clock.schedule(recreatedAfterMs, () => this.#namespaces.forEach((name) => void this.recreateNamespace(name)));
  }

  /** All watches end and cannot be resumed. */
  expireWatches(): void {
    this.server.cutWatches('reset');
    const [node] = this.server.list('nodes').items;
    if (node !== undefined) this.#touch('nodes', node);
    this.server.compact();
  }

  /** Nobody can decode an object any more until it is written again, after this time. Returns its name; undefined if there is none. */
  malform(random: Random, forMs: number): string | undefined {
    const resource = malformable[Math.floor(random.next() * malformable.length)] ?? 'pods';
    const { items } = this.server.list(resource);
    const object = items[Math.floor(random.next() * items.length)];
    if (object === undefined) return undefined;
    const { namespace = '', name } = object.metadata;
    this.malformed.add(object, random);
    this.#touch(resource, object);
    this.#clock.schedule(forMs, () => {
      this.malformed.remove(object);
      const found = this.server
        .list(resource)
        .items.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace);
      if (found !== undefined) this.#touch(resource, found);
    });
    return `${resource} ${name}`;
  }

  #touch(resource: (typeof malformable)[number], object: StoredObject): void {
    const annotations = { ...object.metadata.annotations, 'example.org/written': String(++this.#touches) };
    this.server.update(resource, { ...object, metadata: { ...object.metadata, annotations } });
  }

  /** Deletes a namespace of users and returns its name. */
  deleteNamespace(random: Random): string {
    const name = this.#namespaces[Math.floor(random.next() * this.#namespaces.length)] ?? userNamespaces[0];
    this.recreateNamespace(name);
    this.server.delete('namespaces', '', name);
    return name;
  }

  recreateNamespace(name: string): void {
    if (!this.server.list('namespaces').items.some(({ metadata }) => metadata.name === name))
      this.server.create('namespaces', { metadata: { name } });
  }

  /** Whatever holds deleted objects back has finished, and every Pod has an address that can be written. */
  finishInputs(): void {
    finishInputs(this.server);
    // A write that was on its way may bring a finalizer back, and a user who acts during a fault an unusable address.
    this.server.onCommit((_, { type, object }) => {
      if (type !== 'DELETED' && isUnfinished(object))
        this.#clock.schedule(finalizedAfterMs, () => finishInputs(this.server));
    });
  }

  #userOf(namespace: string): RandomUser {
    const random = { next: () => this.#random.next() };
    const more = uncommonInputs(this.server, random, namespace);
    return new RandomUser(hidingSteady(this.server), random, this.#clock, { editsFields: true, namespace, more });
  }

  #createSteady(): void {
    this.server.put('nodes', nodeObject('steady', 'a'));
    for (const name of steadyServices) {
      const spec = { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }] };
      this.server.create('services', { metadata: { name, namespace: steadyNamespace }, spec });
      for (let n = 0; n < steadyPods; n++) this.#putSteady(name, n, true);
    }
  }

  #putSteady(service: string, n: number, ready: boolean): void {
    const since = `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
    const name = `${service}-pod${n}`;
    const ips = [`10.${service.charCodeAt(7)}.0.${n}`];
    const pod = podObject({ name, labels: { app: service }, ips, ready, node: 'steady', since });
    this.server.put('pods', { ...pod, metadata: { ...(pod.metadata as object), namespace: steadyNamespace } });
  }
}

/** The server for users, without the steady objects. */
function hidingSteady(server: FakeApiServer): FakeApiServer {
  return new Proxy(server, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'list') return value.bind(target);
      return (...given: unknown[]) => {
        const page = value.apply(target, given) as ReturnType<FakeApiServer['list']>;
        return { ...page, items: page.items.filter(({ metadata }) => !metadata.name.startsWith('steady')) };
      };
    },
  });
}
