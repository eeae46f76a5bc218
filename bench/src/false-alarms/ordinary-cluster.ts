import { type Clock, type Random, randomInteger } from '@sluice/platform';
import type { ClusterApi } from './cluster-api.ts';
import type { GroundTruth } from './ground-truth.ts';
import { type LoadContext, Workload, type WorkloadOptions } from './workload.ts';

/** What the Services of a workload are for, which decides what happens to it. */
export type Role = 'web' | 'single' | 'recreated' | 'autoscaled' | 'database' | 'office hours' | 'report';

/** How many of a hundred Services have each role. The others have no selector, or are of type ExternalName. */
const shares: readonly (readonly [Role, number])[] = [
  ['web', 50],
  ['single', 10],
  ['recreated', 6],
  ['autoscaled', 10],
  ['database', 8],
  ['office hours', 6],
  ['report', 4],
];

const nodes = 20;

interface OrdinaryClusterOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly truth: GroundTruth;
  readonly services: number;
}

/** Services with their workloads, and what people and controllers do to them every day. */
export class OrdinaryCluster {
  readonly #options: OrdinaryClusterOptions;
  readonly #context: LoadContext;
  readonly #workloads = new Map<Role, Workload[]>();
  readonly #custom: string[] = [];
  readonly #drained = new Set<string>();
  #ips = 0;
  #previews = 0;

  constructor(options: OrdinaryClusterOptions) {
    this.#options = options;
    const { api, clock, random, truth } = options;
    const node = () => this.#pick(this.#nodes.filter((name) => !this.#drained.has(name)));
    const ip = () => `10.${64 + (++this.#ips >> 16)}.${(this.#ips >> 8) & 255}.${this.#ips & 255}`;
    this.#context = { api, clock, random, truth, node, ip };
    for (let n = 0; n < 10; n++) api.put('namespaces', { metadata: { name: `team-${n}` } });
    for (const name of this.#nodes) this.#putNode(name);
    for (const [role, share] of shares) {
      const count = Math.max(1, Math.round((options.services * share) / 100));
      this.#workloads.set(
        role,
        Array.from({ length: count }, (_, n) => this.#add(role, n)),
      );
    }
    for (let n = 0; n < options.services * 0.03; n++) this.#addExternal(n);
    for (let n = 0; n < options.services * 0.03; n++) this.#addCustom(n);
  }

  of(role: Role): readonly Workload[] {
    return this.#workloads.get(role) ?? [];
  }

  get all(): readonly Workload[] {
    return [...this.#workloads.values()].flat();
  }

  /** A workload that has converged; undefined: there is none. */
  restingOf(...roles: readonly Role[]): Workload | undefined {
    const resting = roles.flatMap((role) => this.of(role)).filter((one) => one.isConverged && one.replicas > 0);
    return resting.length === 0 ? undefined : this.#pick(resting);
  }

  /** A container fails, or a probe: a few seconds, or until the application has started again. */
  crashAny(): void {
    const pod = this.#anyReadyPod();
    pod?.workload.crash(pod.pod, randomInteger(this.#options.random, 2, 25));
  }

  deleteAnyPod(): void {
    const found = this.#anyReadyPod();
    found?.workload.evict(found.pod);
  }

  rollOutAny(): void {
    this.restingOf('web', 'autoscaled', 'single', 'recreated', 'database')?.rollOut();
  }

  scaleAny(): void {
    const workload = this.restingOf('web', 'autoscaled');
    workload?.scale(Math.max(2, workload.replicas + randomInteger(this.#options.random, -2, 3)));
  }

  /** A Job runs for a while, with its Pod behind a Service. */
  runJob(workload: Workload, seconds: number): void {
    if (workload.replicas > 0) return;
    workload.rollOut();
    workload.scale(1);
    this.#after(seconds, () => workload.complete(300));
  }

  /** Scales one workload that is not always needed to zero, or from zero. */
  switchOfficeHours(): void {
    const workload = this.#pick(this.of('office hours'));
    if (workload.replicas === 0) workload.scale(2);
    else if (workload.isConverged) workload.scale(0);
  }

  changeCustomEndpoints(): void {
    this.#putCustom(this.#pick(this.#custom));
  }

  /** A preview of a change gets a namespace of its own, which is deleted later. */
  openPreview(seconds: number): void {
    const { api, random } = this.#options;
    const namespace = `preview-${++this.#previews}`;
    api.put('namespaces', { metadata: { name: namespace } });
    const start = [10, 60] as const;
    const workload = new Workload({ namespace, name: 'app', kind: 'Deployment', startSeconds: start }, this.#context);
    workload.putService();
    // Its objects are created one after the other.
    this.#after(randomInteger(random, 0, 30), () => workload.scale(randomInteger(random, 1, 2)));
    this.#after(seconds, () => {
      workload.remove();
      api.remove('namespaces', '', namespace);
    });
  }

  /** A team adds an application, its Service some minutes before its Deployment, and removes it again. */
  addApplication(name: string, delaySeconds: number, seconds: number): void {
    const options = { namespace: 'team-0', name, kind: 'Deployment', startSeconds: [10, 40] } as const;
    const workload = new Workload(options, this.#context);
    workload.putService();
    this.#after(delaySeconds, () => workload.scale(3));
    this.#after(delaySeconds + seconds, () => workload.remove());
  }

  /** Every Node is drained, replaced and used again, one after the other. */
  upgradeNodes(): void {
    const { random } = this.#options;
    let at = 0;
    for (const name of this.#nodes) {
      this.#after(at, () => this.#drain(name));
      at += randomInteger(random, 120, 240);
      this.#after(at, () => {
        this.#drained.delete(name);
        this.#putNode(name);
      });
    }
  }

  #drain(name: string): void {
    this.#drained.add(name);
    let at = 0;
    for (const workload of this.all) {
      for (const pod of workload.pods.filter(({ node }) => node === name)) {
        // A disruption budget lets one Pod go at a time.
        at += 2;
        this.#after(at, () => workload.evict(pod));
      }
    }
  }

  #add(role: Role, n: number): Workload {
    const { random } = this.#options;
    const between = (least: number, most: number) => randomInteger(random, least, most);
    const slow = between(10, 60);
    const name = `${role.replaceAll(' ', '-')}-${n}`;
    const common = { namespace: `team-${between(0, 9)}`, name, startSeconds: [5, slow] as const };
    const workload = new Workload({ ...common, ...optionsOf(role, n) }, this.#context);
    workload.putService();
    const replicas = {
      web: between(2, 6),
      single: 1,
      recreated: 1,
      autoscaled: 3,
      database: 3,
      'office hours': 2,
      report: 0,
    };
    if (replicas[role] > 0) workload.scale(replicas[role]);
    return workload;
  }

  #addExternal(n: number): void {
    const spec = { type: 'ExternalName', externalName: 'example.org' };
    this.#options.api.put('services', { metadata: { namespace: 'team-0', name: `external-${n}` }, spec });
  }

  #addCustom(n: number): void {
    const name = `custom-${n}`;
    this.#custom.push(name);
    const spec = { ports: [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }] };
    this.#options.api.put('services', { metadata: { namespace: 'team-0', name }, spec });
    // Nobody has created those of the last one yet.
    if (n > 0) this.#putCustom(name);
  }

  #putCustom(name: string): void {
    const { api, random } = this.#options;
    const addresses = Array.from({ length: randomInteger(random, 1, 4) }, (_, i) => ({ ip: `192.0.2.${i + 1}` }));
    const subsets = [{ addresses, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }];
    api.put('endpoints', { metadata: { namespace: 'team-0', name }, subsets });
  }

  get #nodes(): readonly string[] {
    return Array.from({ length: nodes }, (_, n) => `node-${n}`);
  }

  #putNode(name: string): void {
    this.#options.api.put('nodes', {
      metadata: { name, labels: { 'topology.kubernetes.io/zone': 'a' } },
      status: { allocatable: { cpu: '8' }, conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  #anyReadyPod() {
    const workload = this.restingOf('web', 'single', 'recreated', 'autoscaled', 'database', 'office hours');
    const pod = workload && this.#pick(workload.pods);
    return workload && pod && { workload, pod };
  }

  #after(seconds: number, run: () => void): void {
    this.#options.clock.schedule(seconds * 1_000, run);
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#options.random.next() * from.length)] as T;
  }
}

function optionsOf(role: Role, n: number): Pick<WorkloadOptions, 'kind'> & Partial<WorkloadOptions> {
  switch (role) {
    case 'recreated':
      return { kind: 'Recreate', startSeconds: [2, 8] };
    case 'database':
      return { kind: 'StatefulSet', isHeadless: true, publishNotReadyAddresses: n % 2 === 0 };
    case 'report':
      return { kind: 'Job', startSeconds: [1, 2], isHeadless: n % 2 === 0 };
    default:
      return { kind: 'Deployment', hasNamedPort: n % 3 === 0 };
  }
}
