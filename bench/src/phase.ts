import type { ApiClient } from './api-client.ts';
import type { Flip } from './load.ts';
import type { PodPool } from './pod-pool.ts';
import { kubernetesTime, podStatusPath, podsPath } from './populate.ts';
import { type BenchPod, benchPods, NODES, podObject, type Shape } from './shape.ts';
import { samplesForP99 } from './statistics.ts';

/** A number of changes at a fixed rate on a complete cluster. */
export interface Phase {
  readonly name: string;
  /** Changes per second. */
  readonly rate: number;
  readonly changes: number;
  /** Only prepares the next phases. */
  readonly isWarmUp?: boolean;
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

/** Flips per sample: a Pod that flips back before any version shows it gives none. */
const flipsPerSample = 1.05;
/** After so many flips, V8 has compiled the code of a flip, and caches have their size. */
const warmFlips = 3_000;
const warmUpRate = 100;

/**
 * Seconds at a rate that give at least `samplesForP99` samples over all rounds. `least`: shorter ones are prolonged to this, since
 * CPU times have a resolution of 10 ms.
 */
export function secondsAt(rate: number, rounds: number, least: number): number {
  return Math.max(least, Math.ceil((flipsPerSample * samplesForP99) / rate / rounds));
}

/** Flips at each rate after a cold start, and again once the controller is warm. */
export function coldAndWarm(rates: readonly number[], secondsOf: (rate: number) => number): readonly Phase[] {
  if (rates.length === 0) return [];
  const all = (state: string) =>
    rates.map((rate) => ({ ...flips(rate, secondsOf(rate)), name: `${rate} flips/s, ${state}` }));
  const done = all('cold').reduce((sum, { changes }) => sum + changes, 0);
  const seconds = Math.ceil(Math.max(0, warmFlips - done) / warmUpRate);
  const warmUp = { ...flips(warmUpRate, seconds), name: 'warm-up', isWarmUp: true };
  return [...all('cold'), ...(seconds > 0 ? [warmUp] : []), ...all('warm')];
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
  const { namespace, name, service, index } = known(old);
  const pod = { namespace, name: `${name}-next`, service, index: index + shape.services * shape.pods };
  const collection = podsPath(pod);
  return {
    pod,
    ready: true,
    async write(client: ApiClient) {
      const object = podObject(pod, true, kubernetesTime(Date.now()));
      await client.post(collection, object);
      const answer = await client.put(podStatusPath(pod), object);
      await client.delete(`${collection}/${name}?gracePeriodSeconds=0`);
      return answer;
    },
  };
}

function known(pod: BenchPod | undefined): BenchPod {
  if (pod === undefined) throw new Error('no Pods left');
  return pod;
}
