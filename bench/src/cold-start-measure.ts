import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { observeWrites, slicesOf } from '@sluice/tests';
import { Fleet } from './fleet.ts';
import { cpuSeconds } from './process-stats.ts';
import { namespaceNames, type Shape } from './shape.ts';

export const subjects = ['run', 'worker', 'worker-again'] as const;
export type Subject = (typeof subjects)[number];

export interface Start {
  readonly firstWriteMs: number;
  readonly completeMs: number;
  readonly cpuMs: number;
  readonly serversCpuMs: number;
}

export interface StartsOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly profileDirectory: string | undefined;
}

const timeoutMs = 60_000;
/** A process that is stopped earlier may still have plans in flight. */
const quietMs = 300;
/**
 * All slices are compared once nothing was written for this long, in milliseconds. This process is the API server, so comparing
 * them while the started process writes would delay its writes.
 */
const settledMs = 15;

/** Starts and stops each subject once: `worker-again` on the bus and store that `worker` has filled. */
export async function measureStarts(
  chosen: readonly Subject[],
  options: StartsOptions,
): Promise<ReadonlyMap<Subject, Start>> {
  const starts = new Map<Subject, Start>();
  for (const role of ['run', 'worker'] as const) {
    if (!chosen.some((subject) => subject.startsWith(role))) continue;
    const testbed = await Testbed.open(role, options);
    starts.set(role, await testbed.start());
    if (chosen.includes('worker-again') && role === 'worker') {
      testbed.change();
      starts.set('worker-again', await testbed.start());
    }
    await testbed.close();
  }
  return starts;
}

/** A fake cluster over HTTP, and NATS and Redis, for one process at a time. */
class Testbed {
  readonly #role: 'run' | 'worker';
  readonly #server: FakeApiServer;
  readonly #http: ApiServerHttp;
  readonly #population: Population;
  readonly #fleet: Fleet;
  #firstWriteAt: number | undefined;
  #lastWriteAt = 0;

  private constructor(
    role: 'run' | 'worker',
    server: FakeApiServer,
    http: ApiServerHttp,
    population: Population,
    fleet: Fleet,
  ) {
    this.#role = role;
    this.#server = server;
    this.#http = http;
    this.#population = population;
    this.#fleet = fleet;
  }

  static async open(
    role: 'run' | 'worker',
    { directory: parent, shape, profileDirectory }: StartsOptions,
  ): Promise<Testbed> {
    const directory = join(parent, role);
    mkdirSync(directory, { recursive: true });
    const server = new FakeApiServer({ clock, random: seededRandom(1) });
    const { services, pods: podsPerService } = shape;
    const size = { services, podsPerService, namespaces: namespaceNames(shape).length, now: clock.now() };
    const population = populate(server, size);
    const onWrite = () => testbed.#written();
    const http = new ApiServerHttp({ server: observeWrites(server, onWrite, () => {}), clock });
    const kubeconfig = join(directory, 'kubeconfig.json');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
    const fleet = await Fleet.start({ directory, kubeconfig, ...(profileDirectory && { profileDirectory }) });
    const testbed: Testbed = new Testbed(role, server, http, population, fleet);
    return testbed;
  }

  /** Starts the process, waits until all slices are correct, and stops it. */
  async start(): Promise<Start> {
    const { nats, redis } = this.#fleet;
    const cpuMsOf = ({ pid = 0 }: { readonly pid: number | undefined }) => cpuSeconds(pid) * 1_000;
    const serversCpu = () => cpuMsOf(nats.process) + cpuMsOf(redis.process);
    this.#firstWriteAt = undefined;
    const [startedAt, before] = [performance.now(), serversCpu()];
    const child = await this.#fleet.run(this.#role);
    let comparedAt = 0;
    for (;;) {
      if (performance.now() - startedAt > timeoutMs) throw new Error(`slices are still wrong after ${timeoutMs} ms`);
      await sleep(5);
      const writtenAt = this.#lastWriteAt;
      if (this.#firstWriteAt === undefined || writtenAt === comparedAt) continue;
      if (performance.now() - writtenAt < settledMs) continue;
      comparedAt = writtenAt;
      if (this.#isCorrect()) break;
    }
    const completeMs = this.#lastWriteAt - startedAt;
    const cpuMs = cpuMsOf(child);
    const start = {
      ...{ completeMs, cpuMs, firstWriteMs: this.#firstWriteAt - startedAt },
      serversCpuMs: serversCpu() - before,
    };
    await sleep(quietMs);
    await child.stop(20_000);
    return start;
  }

  /** Changes a Pod of each Service. */
  change(): void {
    for (const [service] of this.#population.services.entries()) {
      this.#server.put('pods', this.#population.podObject(service, 0, false));
    }
  }

  async close(): Promise<void> {
    await this.#fleet.stop();
    await this.#http.close();
  }

  #written(): void {
    this.#lastWriteAt = performance.now();
    this.#firstWriteAt ??= this.#lastWriteAt;
  }

  #isCorrect(): boolean {
    const { expected, actual } = slicesOf(this.#server);
    return expected.join('\n') === actual.join('\n');
  }
}
