import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeApiServer, Population } from '@sluice/fake-apiserver';
import { slicesOf } from '@sluice/tests';

/** Flips one Pod per Service in turn, at a fixed rate, and measures until its slice is written. */
export class Flips {
  readonly latencies: number[] = [];
  readonly #services: number;
  readonly #since = new Map<string, number>();
  #next = 0;

  constructor(services: number) {
    this.#services = services;
  }

  written(service: string): void {
    const since = this.#since.get(service);
    if (since === undefined) return;
    this.#since.delete(service);
    this.latencies.push(performance.now() - since);
  }

  async run(
    server: FakeApiServer,
    population: Population,
    { rate, seconds, pods }: { readonly rate: number; readonly seconds: number; readonly pods: number },
  ): Promise<void> {
    const startedAt = performance.now();
    for (let done = 0; done < rate * seconds; done++) {
      const waitMs = startedAt + (done * 1_000) / rate - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      const turn = Math.floor(this.#next / this.#services);
      const service = this.#next++ % this.#services;
      this.#since.set(population.services[service]?.name ?? '', performance.now());
      server.put('pods', population.podObject(service, Math.floor(turn / 2) % pods, turn % 2 === 1));
    }
  }
}

/** @throws Error if slices are still wrong after the maximum wait */
export async function untilConverged(server: FakeApiServer, timeoutSeconds: number): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1_000;
  const isCorrect = () => {
    const { expected, actual } = slicesOf(server);
    return expected.join('\n') === actual.join('\n');
  };
  while (!isCorrect()) {
    if (performance.now() > deadline) throw new Error(`slices are still wrong after ${timeoutSeconds} s`);
    await sleep(200);
  }
}
