import type { ApiClient } from './api-client.ts';
import type { Flip } from './load.ts';
import type { PodPool } from './pod-pool.ts';
import { kubernetesTime, podStatusPath } from './populate.ts';
import { type BenchPod, benchPods, NAMESPACE, NODES, podObject, type Shape } from './shape.ts';

/** A number of changes at a fixed rate on a complete cluster. */
export interface Phase {
  readonly name: string;
  /** Changes per second. */
  readonly rate: number;
  readonly changes: number;
  /** Returns the next change; called once per change, when it is due. */
  source(pool: PodPool): () => Flip;
}

/** Flips the readiness of random Pods. */
export function flips(rate: number, seconds: number): Phase {
  return {
    name: `${rate} flips/s`,
    rate,
    changes: Math.round(rate * seconds),
    source: (pool) => () => pool.take(),
  };
}

/** Replaces Pods by new ones that are ready at once, across all Services. */
export function rollingRestart(shape: Shape, rate: number): Phase {
  const pods = benchPods(shape).toSorted((a, b) => rankOf(a, shape) - rankOf(b, shape));
  return {
    name: `rolling restart, ${rate} Pods/s`,
    rate,
    changes: pods.length,
    source() {
      const rest = pods.values();
      return () => replace(rest.next().value, shape);
    },
  };
}

/** A Node goes down: its Pods become not ready, as fast as they can be written. */
export function nodeDown(shape: Shape): Phase {
  const pods = benchPods(shape).filter(({ index }) => index % NODES === 0);
  return {
    name: `a Node with ${pods.length} Pods goes down`,
    rate: 2000,
    changes: pods.length,
    source() {
      const rest = pods.values();
      return () => ({ pod: known(rest.next().value), ready: false });
    },
  };
}

/** The first Pods of all Services, then the second ones, as if their Deployments rolled out concurrently. */
const rankOf = ({ index }: BenchPod, { services, pods }: Shape): number => (index % pods) * services + index / pods;

function replace(old: BenchPod | undefined, shape: Shape): Flip {
  const { name, service, index } = known(old);
  const pod = { name: `${name}-next`, service, index: index + shape.services * shape.pods };
  const collection = `/api/v1/namespaces/${NAMESPACE}/pods`;
  return {
    pod,
    ready: true,
    async write(client: ApiClient) {
      const object = podObject(pod, true, kubernetesTime(Date.now()));
      await client.post(collection, object);
      const answer = await client.put(podStatusPath(pod.name), object);
      await client.delete(`${collection}/${name}?gracePeriodSeconds=0`);
      return answer;
    },
  };
}

function known(pod: BenchPod | undefined): BenchPod {
  if (pod === undefined) throw new Error('no Pods left');
  return pod;
}
