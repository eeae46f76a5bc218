import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import { kubernetesTime, podStatusPath } from './populate.ts';
import { type BenchPod, podObject } from './shape.ts';
import { percentile } from './statistics.ts';

export interface Flip {
  readonly pod: BenchPod;
  readonly ready: boolean;
}

export interface LoadOptions {
  readonly client: ApiClient;
  readonly rate: number;
  readonly seconds: number;
  /** Called when a write is due. */
  readonly next: () => Flip;
  readonly onAnswer: (flip: Flip, answeredAt: number) => void;
}

/** How well the generator kept to its plan; if it did not, the figures say less than they seem to. */
export interface LoadReport {
  readonly flips: number;
  readonly failed: number;
  /** From the planned time of a write to the call that sends it. */
  readonly lateMs: { readonly p99: number; readonly max: number };
  /** From that call to the answer. */
  readonly answerMs: { readonly p50: number; readonly p99: number };
  readonly mostInFlight: number;
}

/**
 * Flips the readiness of Pods at a fixed rate. Open loop: each write has its planned time, and goes out then whether or
 * not the ones before it were answered, so that a slow API server is not spared.
 */
export async function generateLoad(options: LoadOptions): Promise<LoadReport> {
  const { rate, seconds } = options;
  const total = Math.round(rate * seconds);
  const late: number[] = [];
  const answers: number[] = [];
  const writes = new Set<Promise<void>>();
  let failed = 0;
  let mostInFlight = 0;

  const send = async (flip: Flip, sentAt: number) => {
    const object = podObject(flip.pod, flip.ready, kubernetesTime(Date.now()));
    try {
      const { answeredAt } = await options.client.put(podStatusPath(flip.pod.name), object);
      answers.push(answeredAt - sentAt);
      options.onAnswer(flip, answeredAt);
    } catch {
      failed += 1;
    }
  };

  const start = performance.now();
  for (let sent = 0; sent < total; ) {
    const planned = start + (sent * 1000) / rate;
    const now = performance.now();
    if (now < planned) {
      await sleep(Math.max(1, planned - now));
      continue;
    }
    late.push(now - planned);
    const write = send(options.next(), now).finally(() => writes.delete(write));
    writes.add(write);
    mostInFlight = Math.max(mostInFlight, writes.size);
    sent += 1;
  }
  await Promise.all(writes);
  return {
    flips: total,
    failed,
    lateMs: { p99: percentile(late, 0.99), max: percentile(late, 1) },
    answerMs: { p50: percentile(answers, 0.5), p99: percentile(answers, 0.99) },
    mostInFlight,
  };
}
