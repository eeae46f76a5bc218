import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@sluice/bus';
import { connectJetStreamBus } from '@sluice/bus/jetstream';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import type { ServerProcess } from '@sluice/local';
import { defaultPartitions } from '@sluice/messages';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock, systemRandom as random } from '@sluice/platform/process';
import { observeWrites, PodPopulation } from '@sluice/tests';
import { Fleet, type Role } from './fleet.ts';
import { memoryMb } from './process-stats.ts';
import type { Shape } from './shape.ts';

export type Missing = 'reconciler' | 'writer' | 'cluster';

export interface OutageOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly minutes: number;
  /** Pod changes per second. */
  readonly rate: number;
  readonly seed: number;
  /** Maximum wait for convergence, in seconds. */
  readonly timeoutSeconds: number;
  readonly say: (line: string) => void;
}

export interface MemorySample {
  /** Seconds since the start of the outage. */
  readonly seconds: number;
  /** Resident memory of each running process, in MB (10⁶ bytes). */
  readonly mb: Readonly<Record<string, number>>;
}

export interface Outage {
  readonly missing: Missing;
  readonly changes: number;
  /** Records appended during the outage. */
  readonly backlog: { readonly changes: number; readonly mutations: number };
  readonly writesMeanwhile: number;
  readonly writesAfter: number;
  /** From the end of the outage until all slices and Endpoints are correct. */
  readonly caughtUpSeconds: number;
  /** At the start, at intervals, and after catching up. */
  readonly memory: readonly MemorySample[];
}

const samples = 10;
const roles = ['watcher', 'reconciler', 'writer'] as const;

/** One process per role on real servers, and a fake cluster over HTTP; one of them is away for a while. */
export async function measureOutage(missing: Missing, options: OutageOptions): Promise<Outage> {
  const directory = join(options.directory, missing);
  mkdirSync(directory, { recursive: true });
  const server = new FakeApiServer({ clock, random: seededRandom(options.seed) });
  let writes = 0;
  const spied = observeWrites(
    server,
    () => writes++,
    () => {},
  );
  const population = new PodPopulation(server, options.shape, seededRandom(options.seed + 1), clock.now());
  const cluster = new ClusterOverHttp(spied);
  await cluster.up();
  const kubeconfig = cluster.writeKubeconfig(directory);
  const fleet = await Fleet.start({ directory, kubeconfig });
  const bus = await connectJetStreamBus(
    { servers: [fleet.nats.url], partitions: defaultPartitions },
    { clock, random, logger: silentLogger },
  );
  const processes = new Map<Role, ServerProcess>();
  for (const role of roles) processes.set(role, await fleet.run(role));
  await converged(population, options, 'the start');

  const memory: MemorySample[] = [];
  const startedAt = performance.now();
  const sample = () => {
    const pids = [
      ...[...processes].map(([role, { pid }]) => [role, pid] as const),
      ['NATS', fleet.nats.process.pid] as const,
      ['Redis', fleet.redis.process.pid] as const,
    ];
    const mb = Object.fromEntries(pids.flatMap(([name, pid]) => (pid === undefined ? [] : [[name, memoryMb(pid)]])));
    const seconds = (performance.now() - startedAt) / 1000;
    memory.push({ seconds, mb });
    const shown = Object.entries(mb).map(([name, value]) => `${name} ${value.toFixed(0)}`);
    options.say(`without ${missing}, ${seconds.toFixed(0)} s: ${shown.join(', ')} MB`);
  };
  sample();
  const before = { ...(await ends(bus)), writes };
  if (missing === 'cluster') await cluster.down();
  else await processes.get(missing)?.stop(20_000);
  const changes = await churn(population, options, sample);
  const after = await ends(bus);
  const [writesMeanwhile, backAt] = [writes - before.writes, performance.now()];
  writes = 0;
  if (missing === 'cluster') await cluster.up();
  else processes.set(missing, await fleet.run(missing));
  await converged(population, options, 'the return');
  const caughtUpSeconds = (performance.now() - backAt) / 1000;
  // Superfluous writes would arrive now.
  await sleep(quietMs);
  const wrong = population.incorrectServices();
  if (wrong.length > 0) throw new Error(`Services became incorrect again: ${wrong.join(', ')}`);
  sample();
  const result: Outage = {
    ...{ missing, changes, writesMeanwhile, writesAfter: writes, caughtUpSeconds, memory },
    backlog: { changes: after.changes - before.changes, mutations: after.mutations - before.mutations },
  };
  await bus.close();
  await fleet.stop();
  await cluster.down();
  return result;
}

const quietMs = 5_000;

/** Changes Pods at the given rate for the whole outage and samples memory at intervals. Returns the number of changes. */
async function churn(population: PodPopulation, options: OutageOptions, sample: () => void): Promise<number> {
  const { minutes, rate } = options;
  const [startedAt, lengthMs] = [performance.now(), minutes * 60_000];
  const total = Math.round((lengthMs / 1000) * rate);
  let [changes, sampled] = [0, 0];
  while (changes < total) {
    const elapsedMs = performance.now() - startedAt;
    const due = Math.min(total, Math.floor((elapsedMs / 1000) * rate));
    for (; changes < due; changes++) population.change();
    if (elapsedMs >= ((sampled + 1) * lengthMs) / samples) {
      sampled++;
      sample();
    }
    await sleep(50);
  }
  if (sampled < samples) sample();
  return changes;
}

/** @throws Error with the Services that are incorrect after the maximum wait */
async function converged(population: PodPopulation, { timeoutSeconds }: OutageOptions, after: string): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    const wrong = population.incorrectServices();
    if (wrong.length === 0) return;
    if (performance.now() > deadline) {
      throw new Error(
        `${timeoutSeconds} s after ${after}, ${wrong.length} Services are incorrect: ${wrong.slice(0, 10)}`,
      );
    }
    await sleep(200);
  }
}

/** Number of records ever appended, over all partitions. */
async function ends(bus: Bus): Promise<{ readonly changes: number; readonly mutations: number }> {
  const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
  const sum = async (topic: 'changes' | 'mutations') => {
    const all = await Promise.all(partitions.map((partition) => bus.end(topic, partition)));
    return all.reduce((total, { offset }) => total + offset, 0);
  };
  return { changes: await sum('changes'), mutations: await sum('mutations') };
}

/** A fake cluster behind a fixed address that can be made unreachable. */
class ClusterOverHttp {
  readonly #server: FakeApiServer;
  #http: ApiServerHttp | undefined;
  #url = '';

  constructor(server: FakeApiServer) {
    this.#server = server;
  }

  async up(): Promise<void> {
    this.#http = new ApiServerHttp({ server: this.#server, clock });
    this.#url = await this.#http.listen(this.#url === '' ? 0 : Number(new URL(this.#url).port));
  }

  /** Cuts all connections and refuses new ones. */
  async down(): Promise<void> {
    await this.#http?.close();
  }

  writeKubeconfig(directory: string): string {
    const path = join(directory, 'kubeconfig.json');
    writeFileSync(path, JSON.stringify(kubeconfigOf(this.#url, 'c')));
    return path;
  }
}
