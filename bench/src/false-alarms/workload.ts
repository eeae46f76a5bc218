import type { RawObject } from '@sluice/kubernetes';
import { type Clock, type Random, randomInteger } from '@sluice/platform';
import { kubernetesTime } from '../populate.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { GroundTruth } from './ground-truth.ts';

export type WorkloadKind = 'Deployment' | 'Recreate' | 'StatefulSet' | 'Job';

export interface WorkloadOptions {
  readonly namespace: string;
  readonly name: string;
  readonly kind: WorkloadKind;
  /** How long a Pod needs from its container's start until it is ready: least and most, in seconds. */
  readonly startSeconds: readonly [number, number];
  readonly isHeadless?: boolean;
  readonly publishNotReadyAddresses?: boolean;
  /** Its Service refers to the container port by name. */
  readonly hasNamedPort?: boolean;
}

/** What workloads share. */
export interface LoadContext {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly truth: GroundTruth;
  /** Name of a Node for a new Pod. */
  readonly node: () => string;
  /** An address that no Pod had before. */
  readonly ip: () => string;
}

export interface LoadPod {
  readonly name: string;
  readonly revision: number;
  readonly node: string;
  ip: string;
  state: 'pending' | 'not ready' | 'ready' | 'terminating' | 'succeeded' | 'gone';
  since: number;
}

/** A Service and the controller, scheduler and kubelets of its Pods. */
export class Workload {
  readonly options: WorkloadOptions;
  readonly #context: LoadContext;
  #pods: LoadPod[] = [];
  #replicas = 0;
  #revision = 1;
  #ordinal = 0;
  #isBroken = false;
  #hasService = false;
  #labels: Readonly<Record<string, string>>;

  constructor(options: WorkloadOptions, context: LoadContext) {
    this.options = options;
    this.#context = context;
    this.#labels = { app: options.name };
  }

  /** NAMESPACE/NAME of the Service. */
  get service(): string {
    return `${this.options.namespace}/${this.options.name}`;
  }

  get replicas(): number {
    return this.#replicas;
  }

  get pods(): readonly LoadPod[] {
    return this.#pods;
  }

  /** Whether nothing is in progress. */
  get isConverged(): boolean {
    return (
      this.#pods.length === this.#replicas && this.#pods.every((pod) => this.#isCurrent(pod) && pod.state === 'ready')
    );
  }

  /** Creates the Service, or changes it. */
  putService({ selector = this.#labels, targetPort }: { selector?: object | null; targetPort?: string } = {}): void {
    const { namespace, name, isHeadless, publishNotReadyAddresses = false, hasNamedPort } = this.options;
    const port = targetPort ?? (hasNamedPort ? 'http' : 8080);
    const spec = {
      ...(selector !== null && { selector }),
      ...(isHeadless && { clusterIP: 'None' }),
      ports: [{ name: 'http', port: 80, targetPort: port, protocol: 'TCP' }],
      publishNotReadyAddresses,
    };
    this.#hasService = true;
    this.#context.api.put('services', { metadata: { namespace, name, labels: this.#labels }, spec });
    this.#observe();
  }

  removeService(): void {
    this.#hasService = false;
    this.#context.api.remove('services', this.options.namespace, this.options.name);
    this.#observe();
  }

  scale(replicas: number): void {
    this.#replicas = replicas;
    this.#sync();
  }

  /** New Pods replace all. `isBroken`: they never become ready. */
  rollOut({ isBroken = false } = {}): void {
    this.#isBroken = isBroken;
    this.#revision++;
    this.#sync();
  }

  /** The Pod's container fails and starts again. */
  crash(pod: LoadPod, seconds: number): void {
    if (pod.state !== 'ready') return;
    this.#set(pod, 'not ready');
    this.#later(pod, seconds, () => this.#set(pod, 'ready'));
  }

  /** Its Node is drained. */
  evict(pod: LoadPod): void {
    if (pod.state === 'succeeded') this.#delete(pod);
    else this.#terminate(pod);
    this.#sync();
  }

  /** The Job is done, and its Pods stay for a while. */
  complete(keptSeconds: number): void {
    const done = this.#pods.filter(({ state }) => state === 'ready' || state === 'not ready' || state === 'pending');
    this.#replicas = 0;
    for (const pod of done) {
      this.#set(pod, 'succeeded');
      this.#later(pod, keptSeconds, () => this.#delete(pod));
    }
  }

  /** Removes the workload and its Pods; with a namespace, the API server does so by itself. */
  remove(): void {
    this.removeService();
    this.scale(0);
  }

  get #isServing(): boolean {
    const isEnough = ({ state }: LoadPod) =>
      state === 'ready' || (state === 'not ready' && this.options.publishNotReadyAddresses === true);
    return this.#pods.some(isEnough);
  }

  #observe(): void {
    const isWanted = this.#hasService && this.#replicas > 0;
    this.#context.truth.observe(this.service, this.#context.clock.now(), { isServing: this.#isServing, isWanted });
  }

  #observeReadiness({ name }: LoadPod): void {
    this.#context.truth.observeReadiness(this.service, name, this.#context.clock.now());
  }

  /** What the controller of the workload does. */
  #sync(): void {
    const living = this.#pods.filter(
      ({ state }) => state !== 'terminating' && state !== 'gone' && state !== 'succeeded',
    );
    if (this.options.kind === 'StatefulSet') this.#syncOrdered(living);
    else if (this.options.kind === 'Recreate') this.#syncRecreated(living);
    else this.#syncRolling(living);
    this.#observe();
  }

  /** As with maxSurge and maxUnavailable of 25 %. */
  #syncRolling(living: readonly LoadPod[]): void {
    const current = living.filter((pod) => this.#isCurrent(pod));
    const old = living.filter((pod) => !this.#isCurrent(pod)).sort((a, b) => Number(isReady(a)) - Number(isReady(b)));
    const most = this.#replicas + (old.length === 0 ? 0 : Math.ceil(this.#replicas / 4));
    for (let n = living.length; n < most && current.length + n - living.length < this.#replicas; n++) this.#add();
    const least = this.#replicas - Math.floor(this.#replicas / 4);
    let ready = living.filter(isReady).length;
    for (const pod of old) {
      if (isReady(pod) && ready <= least && this.#replicas > 0) break;
      if (isReady(pod)) ready--;
      this.#terminate(pod);
    }
    for (const pod of current.slice(this.#replicas)) this.#terminate(pod);
  }

  #syncRecreated(living: readonly LoadPod[]): void {
    const old = living.filter((pod) => !this.#isCurrent(pod));
    for (const pod of [...old, ...living.filter((pod) => this.#isCurrent(pod)).slice(this.#replicas)])
      this.#terminate(pod);
    if (this.#pods.some((pod) => !this.#isCurrent(pod))) return;
    for (let n = living.length; n < this.#replicas; n++) this.#add();
  }

  /** One Pod at a time, from the first one when they are created and from the last one when they are replaced. */
  #syncOrdered(living: readonly LoadPod[]): void {
    if (!this.#pods.every(isReady)) return;
    if (living.length < this.#replicas) {
      const names = new Set(this.#pods.map(({ name }) => name));
      for (let n = 0; n < this.#replicas; n++) {
        const name = `${this.options.name}-${n}`;
        if (!names.has(name)) return this.#add(name);
      }
    }
    const last = [...living].sort((a, b) => (a.name < b.name ? 1 : -1));
    const next = living.length > this.#replicas ? last[0] : last.find((pod) => !this.#isCurrent(pod));
    if (next !== undefined) this.#terminate(next);
  }

  #isCurrent({ revision }: LoadPod): boolean {
    return revision === this.#revision;
  }

  #add(name = `${this.options.name}-${this.#revision}-${this.#ordinal++}`): void {
    const { random, node, ip } = this.#context;
    const now = this.#context.clock.now();
    const pod: LoadPod = { name, revision: this.#revision, node: node(), ip: '', state: 'pending', since: now };
    this.#pods.push(pod);
    this.#set(pod, 'pending');
    // Most images are on the Node already.
    const pulls = random.next() < 0.2 ? randomInteger(random, 5, 90) : randomInteger(random, 1, 3);
    const [least, most] = this.options.startSeconds;
    this.#later(pod, pulls, () => {
      pod.ip = ip();
      this.#set(pod, 'not ready');
      if (this.#isBroken) return;
      this.#later(pod, randomInteger(random, least, most), () => {
        this.#set(pod, 'ready');
        this.#sync();
      });
    });
  }

  #terminate(pod: LoadPod): void {
    if (pod.state === 'terminating' || pod.state === 'gone') return;
    const isStarted = pod.state !== 'pending';
    if (pod.state === 'ready') this.#observeReadiness(pod);
    pod.state = 'terminating';
    this.#context.api.remove('pods', this.options.namespace, pod.name);
    const stop = isStarted ? randomInteger(this.#context.random, 1, 12) : 1;
    this.#later(pod, stop, () => {
      this.#delete(pod);
      this.#sync();
    });
    this.#observe();
  }

  #delete(pod: LoadPod): void {
    if (pod.state === 'gone') return;
    pod.state = 'gone';
    this.#pods = this.#pods.filter((one) => one !== pod);
    this.#context.api.remove('pods', this.options.namespace, pod.name, true);
  }

  #set(pod: LoadPod, state: LoadPod['state']): void {
    if ((pod.state === 'ready') !== (state === 'ready')) this.#observeReadiness(pod);
    pod.state = state;
    pod.since = this.#context.clock.now();
    this.#context.api.put('pods', this.#podObject(pod));
    this.#observe();
  }

  /** Unless the Pod is terminated or changed meanwhile. */
  #later(pod: LoadPod, seconds: number, run: () => void): void {
    const { state } = pod;
    this.#context.clock.schedule(seconds * 1_000, () => {
      if (pod.state === state) run();
    });
  }

  #podObject({ name, node, ip, state, since }: LoadPod): RawObject {
    const { namespace, kind, name: app } = this.options;
    const isPending = state === 'pending';
    const owner = { Deployment: 'ReplicaSet', Recreate: 'ReplicaSet', StatefulSet: 'StatefulSet', Job: 'Job' }[kind];
    const at = kubernetesTime(since);
    const ready = state === 'ready';
    const waiting = { reason: isPending ? 'ContainerCreating' : 'CrashLoopBackOff' };
    return {
      metadata: {
        ...{ namespace, name, labels: this.#labels },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: app, uid: `uid-${app}`, controller: true }],
      },
      spec: {
        ...{ nodeName: node, terminationGracePeriodSeconds: 30 },
        containers: [{ name: 'app', image: 'app:1', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      },
      status: {
        phase: isPending ? 'Pending' : state === 'succeeded' ? 'Succeeded' : 'Running',
        ...(ip !== '' && { podIP: ip, podIPs: [{ ip }] }),
        conditions: [
          {
            ...{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at },
            ...(!ready && { reason: state === 'succeeded' ? 'PodCompleted' : 'ContainersNotReady' }),
          },
        ],
        containerStatuses: [
          {
            ...{ name: 'app', ready, restartCount: 0, image: 'app:1', imageID: '' },
            state: ready ? { running: { startedAt: at } } : { waiting },
          },
        ],
      },
    };
  }
}

const isReady = ({ state }: LoadPod): boolean => state === 'ready';
