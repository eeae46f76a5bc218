import type { StoredObject } from '@sluice/fake-apiserver';
import type { Nodes, SimulatedNode } from './nodes.ts';
import { PodAddresses } from './pod-addresses.ts';
import { podObject, podStatus, type Revision } from './pod-object.ts';
import type { WorkloadSpec } from './sample-objects.ts';
import type { SimulationContext } from './simulation-context.ts';

export interface SimulatedPod {
  readonly namespace: string;
  readonly name: string;
  /** Undefined for Pods created by users. */
  readonly workload: WorkloadSpec | undefined;
  readonly revision: Revision | undefined;
  readonly containers: readonly string[];
  readonly startupMs: readonly [number, number];
  /** Name of the Node to avoid when scheduling. */
  readonly avoid: string;
  node: SimulatedNode | undefined;
  ips: readonly string[];
  ready: boolean;
  readySince: number;
  startedAt: number;
  restarts: number;
  terminating: boolean;
}

/** The fields read from Pods that users created. */
interface PodFields {
  readonly spec?: { readonly containers?: readonly { readonly name?: string }[] };
  readonly status?: { readonly podIP?: string };
}

/** Acts as scheduler and kubelets: assigns Nodes and addresses, makes Pods ready, stops deleted ones. */
export class Pods {
  readonly #context: SimulationContext;
  readonly #nodes: Nodes;
  readonly #addresses = new PodAddresses();
  readonly #pods = new Map<string, SimulatedPod>();
  readonly #onChange: (pod: SimulatedPod) => void;

  /** `onChange` is called for every changed Pod, so that its workload reconciles. */
  constructor(context: SimulationContext, nodes: Nodes, onChange: (pod: SimulatedPod) => void) {
    this.#context = context;
    this.#nodes = nodes;
    this.#onChange = onChange;
  }

  all(): readonly SimulatedPod[] {
    return [...this.#pods.values()];
  }

  of(workload: WorkloadSpec): readonly SimulatedPod[] {
    return this.all().filter((pod) => pod.workload === workload);
  }

  has(namespace: string, name: string): boolean {
    return this.#pods.has(`${namespace}/${name}`);
  }

  /** Creates a Pod; with `ready`, it runs and is ready at once. */
  launch(workload: WorkloadSpec, revision: Revision, name: string, avoid = '', ready = false): void {
    const { namespace, startupMs } = workload;
    const { containers: own, sidecar } = workload;
    const containers = (sidecar === undefined ? own : [...own, sidecar]).map((container) => container.name);
    const pod = newPod({ namespace, name, workload, revision, containers, startupMs, avoid });
    if (!this.#context.attempt((api) => api.create('pods', podObject(workload, revision, name)))) return;
    this.#pods.set(`${namespace}/${name}`, pod);
    this.#report(pod, 'was created');
    if (ready) {
      this.#schedule(pod);
      this.#start(pod);
      this.setReady(pod, true, 'became ready');
    } else this.#context.schedule(80, 300, () => this.#schedule(pod));
  }

  /** Deletes a Pod. It stops within a few seconds if its Node responds. */
  terminate(pod: SimulatedPod, why = 'is terminating'): void {
    if (pod.terminating) return;
    pod.terminating = true;
    this.#context.attempt((api) => api.delete('pods', pod.namespace, pod.name));
    this.#report(pod, why);
    this.#scheduleStop(pod);
    this.#onChange(pod);
  }

  /** A Node responds again: its deleted Pods stop and the others become ready. */
  resume(node: SimulatedNode): void {
    for (const pod of this.all().filter((one) => one.node === node)) {
      if (pod.terminating) this.#scheduleStop(pod);
      else if (pod.startedAt === 0) this.#start(pod);
      else this.#context.schedule(300, 1500, () => this.setReady(pod, true, 'is ready again'));
    }
  }

  setReady(pod: SimulatedPod, ready: boolean, description: string): void {
    if (!this.#isAlive(pod) || pod.ready === ready || pod.startedAt === 0 || (ready && pod.terminating)) return;
    pod.ready = ready;
    pod.readySince = this.#context.clock.now();
    this.#writeStatus(pod);
    this.#report(pod, description);
    this.#onChange(pod);
  }

  restart(pod: SimulatedPod): void {
    pod.restarts++;
    this.setReady(pod, false, 'restarted its container and is not ready');
  }

  /** Deletes a Pod without a grace period. */
  remove(pod: SimulatedPod, description = 'is gone'): void {
    if (!this.#isAlive(pod)) return;
    this.#context.attempt((api) => api.delete('pods', pod.namespace, pod.name, { gracePeriodSeconds: 0 }));
    this.#removed(pod, description);
  }

  /** Adopts Pods that users created and handles those they deleted. */
  sync(objects: readonly StoredObject[]): void {
    const found = new Map(objects.map((object) => [`${object.metadata.namespace}/${object.metadata.name}`, object]));
    for (const [key, pod] of this.#pods) {
      const object = found.get(key);
      if (object === undefined) this.#removed(pod, pod.terminating ? 'is gone' : 'was removed by a user');
      else if (object.metadata.deletionTimestamp !== undefined && !pod.terminating) this.terminate(pod);
      else if (pod.node === undefined) this.#schedule(pod);
    }
    for (const [key, object] of found) if (!this.#pods.has(key)) this.#adopt(key, object);
  }

  #schedule(pod: SimulatedPod): void {
    if (!this.#isAlive(pod) || pod.terminating || pod.node !== undefined) return;
    const node = this.#nodeFor(pod);
    if (node === undefined) return;
    pod.node = node;
    const { namespace, name } = pod;
    if (this.#context.attempt((api) => api.patch('pods', namespace, name, { spec: { nodeName: node.name } })))
      this.#context.schedule(300, 1200, () => this.#start(pod));
  }

  /** The least loaded Node: a workload spreads over zones first, then over Nodes. */
  #nodeFor(pod: SimulatedPod): SimulatedNode | undefined {
    const pods = this.all();
    const load = (node: SimulatedNode) => {
      const mates = pods.filter((other) => other.workload === pod.workload && !other.terminating);
      const inZone = mates.filter((other) => other.node?.zone === node.zone).length;
      const onNode = pods.filter((other) => other.node === node).length;
      return inZone * 1000 + onNode + this.#context.random.next() + (node.name === pod.avoid ? 1e6 : 0);
    };
    const candidates = this.#nodes.workers().filter((node) => node.ready);
    return candidates.map((node) => ({ node, load: load(node) })).sort((a, b) => a.load - b.load)[0]?.node;
  }

  #start(pod: SimulatedPod): void {
    if (!this.#isAlive(pod) || pod.terminating || pod.startedAt > 0 || !pod.node?.ready) return;
    const ips = this.#addresses.allocate(pod.node);
    if (ips === undefined) return;
    pod.ips = ips;
    pod.startedAt = pod.readySince = this.#context.clock.now();
    this.#writeStatus(pod);
    this.#report(pod, `started on ${pod.node.name} with address ${ips[0]}, not ready yet`);
    this.#onChange(pod);
    const [from, to] = pod.startupMs;
    this.#context.schedule(from, to, () => {
      if (pod.node?.ready) this.setReady(pod, true, 'became ready');
    });
  }

  #scheduleStop(pod: SimulatedPod): void {
    this.#context.schedule(900, 3500, () => {
      if (pod.node === undefined || pod.node.ready) this.remove(pod);
    });
  }

  #adopt(key: string, object: StoredObject): void {
    const { namespace, name } = object.metadata;
    const { spec = {}, status = {} } = object as PodFields;
    const names = (spec.containers ?? []).map((container) => container.name ?? '');
    const managed = status.podIP !== undefined;
    const seen = { namespace, name, workload: undefined, revision: undefined, containers: names, avoid: '' };
    const pod = newPod({ ...seen, startupMs: [800, 2500] });
    // A Pod with an address from elsewhere is not run by the simulator.
    if (managed || object.metadata.deletionTimestamp !== undefined) return;
    this.#pods.set(key, pod);
    this.#schedule(pod);
  }

  #removed(pod: SimulatedPod, description: string): void {
    this.#pods.delete(`${pod.namespace}/${pod.name}`);
    this.#addresses.release(pod.ips[0]);
    this.#report(pod, description);
    this.#onChange(pod);
  }

  #isAlive(pod: SimulatedPod): boolean {
    return this.#pods.get(`${pod.namespace}/${pod.name}`) === pod;
  }

  #writeStatus(pod: SimulatedPod): void {
    const status = podStatus({ ...pod, hostIP: pod.node?.ip ?? '' });
    this.#context.attempt((api) => api.patch('pods', pod.namespace, pod.name, { status }, { subresource: 'status' }));
  }

  #report({ namespace, name, workload }: SimulatedPod, description: string): void {
    const service = workload === undefined ? {} : { service: workload.service };
    this.#context.report({ kind: 'Pod', namespace, name, description, ...service });
  }
}

type NewPod = Pick<SimulatedPod, 'namespace' | 'name' | 'workload' | 'revision' | 'containers' | 'startupMs' | 'avoid'>;

function newPod(about: NewPod): SimulatedPod {
  const blank = {
    node: undefined,
    ips: [],
    ready: false,
    readySince: 0,
    startedAt: 0,
    restarts: 0,
    terminating: false,
  };
  return { ...about, ...blank };
}
