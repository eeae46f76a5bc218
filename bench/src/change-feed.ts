import type { Bus } from '@sluice/bus';
import {
  type Change,
  encodeMessage,
  type Fact,
  formatServiceKey,
  type PublishedResourceVersions,
  partitionOf,
  type ServiceKey,
} from '@sluice/messages';
import { projectPod, projectService } from '@sluice/model';
import { PartitionAppender } from './partition-appender.ts';
import { kubernetesTime } from './populate.ts';
import {
  type BenchPod,
  type BenchService,
  benchPods,
  benchServices,
  podObject,
  type Shape,
  serviceObjects,
} from './shape.ts';

const CLUSTER = 'bench-cluster';
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

/** Publishes a cluster's Changes as its watcher would, with the same stamps and sequences. */
export class ChangeFeed {
  readonly appender: PartitionAppender;
  readonly #partitions: number;
  readonly #versions: () => PublishedResourceVersions;
  readonly #epoch = Date.now();
  /** Sequence of the last Change to each partition. */
  readonly #previous = new Map<number, number>();
  #n = 0;

  /** `versions`: resourceVersions up to which all writes have been published. */
  constructor(bus: Bus, versions: () => PublishedResourceVersions) {
    this.appender = new PartitionAppender(bus);
    this.#partitions = bus.partitions;
    this.#versions = versions;
  }

  /** Publishes all Services of a partition, as a watcher does on a resync request; all Pods are ready. */
  snapshot(shape: Shape, partition: number): void {
    const services = serviceObjects(shape);
    const pods = Map.groupBy(benchPods(shape), ({ service }) => service);
    for (const [index, service] of benchServices(shape).entries()) {
      if (partitionOf(formatServiceKey(keyOf(service)), this.#partitions) !== partition) continue;
      const resourceVersions = this.#versions();
      const meta = { uid: `uid-${service.name}`, creationTimestamp: kubernetesTime(this.#epoch) };
      const raw = withMeta(services[index] ?? {}, meta);
      const facts: Fact[] = [
        { kind: 'service', service: projectService(raw) },
        ...(pods.get(service.name) ?? []).map((pod) => podFact(pod, true, this.#epoch)),
      ];
      this.#publish(keyOf(service), facts, 'resync', {
        snapshot: { first: true, last: true, initial: false, resourceVersions },
      });
    }
  }

  /** Publishes a change of a Pod's readiness. */
  pod(pod: BenchPod, ready: boolean): void {
    const fact = podFact(pod, ready, Date.now());
    const key = keyOf({ namespace: pod.namespace, name: pod.service });
    this.#publish(key, [fact], `Pod ${pod.namespace}/${pod.name} modified`);
  }

  /** Publishes the watch echo of a write. */
  echo(key: ServiceKey, facts: readonly Fact[]): void {
    for (const fact of facts) this.#publish(key, [fact], `${fact.kind} of ${key.service} modified`);
  }

  #publish(key: ServiceKey, facts: readonly Fact[], what: string, rest: Pick<Change, 'snapshot'> = {}): void {
    const text = formatServiceKey(key);
    const partition = partitionOf(text, this.#partitions);
    const stamp = { epoch: this.#epoch, sequence: ++this.#n };
    const previousSequence = this.#previous.get(partition) ?? 0;
    this.#previous.set(partition, stamp.sequence);
    const causes = { first: [{ description: what, observedAt: Date.now() }], more: 0 };
    const resourceVersions = this.#versions();
    const change: Change = { kind: 'change', key, stamp, previousSequence, facts, resourceVersions, ...rest, causes };
    const id = `${key.cluster}/${stamp.epoch}/${stamp.sequence}`;
    this.appender.append(partition, { key: text, id, headers: {}, payload: encodeMessage(change) });
  }
}

function keyOf({ namespace, name }: BenchService): ServiceKey {
  return { cluster: CLUSTER, namespace, service: name };
}

function podFact(pod: BenchPod, ready: boolean, at: number): Fact {
  const meta = { uid: `uid-${pod.name}`, creationTimestamp: kubernetesTime(at) };
  const object = withMeta(podObject(pod, ready, kubernetesTime(at)), meta);
  return {
    kind: 'pod',
    name: pod.name,
    pod: projectPod(object).pod,
    node: { zone: ZONES[pod.index % ZONES.length] ?? '' },
  };
}

/** The object as an API server returns it. */
function withMeta(object: object, meta: object): object {
  const own = 'metadata' in object && typeof object.metadata === 'object' ? object.metadata : {};
  return { ...object, metadata: { ...own, ...meta, resourceVersion: '1' } };
}
