import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient } from './api-client.ts';
import { kubernetesTime, podStatusPath } from './populate.ts';
import { type BenchPod, podObject } from './shape.ts';
import { percentile } from './statistics.ts';

export interface Flip {
  readonly pod: BenchPod;
  /** Readiness that the slices must show afterwards. */
  readonly ready: boolean;
  /** The write of the flip. Default: write the Pod's status. */
  readonly write?: (client: ApiClient) => Promise<Pick<Answer, 'answeredAt'>>;
}

export interface LoadOptions {
  readonly client: ApiClient;
  readonly rate: number;
  readonly flips: number;
  /** Called when a write is due. */
  readonly next: () => Flip;
  readonly onAnswer: (flip: Flip, answeredAt: number) => void;
  /** Called if a write failed, so that nothing is known about its flip. */
  readonly onFailure?: (flip: Flip) => void;
}

/** How closely the generator followed its plan; large delays make the results unreliable. */
export interface LoadReport {
  readonly flips: number;
  readonly failed: number;
  /** From a write's planned time to the call that sends it. */
  readonly lateMs: { readonly p99: number; readonly max: number };
  /** From that call to the response. */
  readonly answerMs: { readonly p50: number; readonly p99: number };
  readonly mostInFlight: number;
}

export function writeStatus(client: ApiClient, { pod, ready }: Pick<Flip, 'pod' | 'ready'>): Promise<Answer> {
  return client.put(podStatusPath(pod), podObject(pod, ready, kubernetesTime(Date.now())));
}

/**
 * Flips the readiness of Pods at a fixed rate. Open loop: each write is sent at its planned time, whether or not earlier
 * ones have a response, so that a slow API server gets the same load.
 */
export async function generateLoad(options: LoadOptions): Promise<LoadReport> {
  const { rate, flips: total } = options;
  const late: number[] = [];
  const answers: number[] = [];
  const writes = new Set<Promise<void>>();
  let failed = 0;
  let mostInFlight = 0;

  const send = async (flip: Flip, sentAt: number) => {
    const write = flip.write ?? ((client) => writeStatus(client, flip));
    try {
      const { answeredAt } = await write(options.client);
      answers.push(answeredAt - sentAt);
      options.onAnswer(flip, answeredAt);
    } catch {
      failed += 1;
      options.onFailure?.(flip);
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
