import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, NetworkedBus, type PartitionReader, streamStart } from '@sluice/bus';
import { connectJetStreamBus } from '@sluice/bus/jetstream';
import type { ServerProcess } from '@sluice/local';
import { decodeMessage, defaultPartitions, type PlannedMutations } from '@sluice/messages';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock, systemRandom as random } from '@sluice/platform/process';
import { timeUnit } from './calibrate.ts';
import { ChangeFeed } from './change-feed.ts';
import { Fleet } from './fleet.ts';
import { FlipTracker } from './flip-tracker.ts';
import { PodPool } from './pod-pool.ts';
import { cpuSeconds } from './process-stats.ts';
import { benchPods, type Shape, serviceNames } from './shape.ts';
import { Shares } from './shares.ts';
import { percentile, reliablePercentile } from './statistics.ts';
import { StubCluster } from './stub-cluster.ts';
import { StubWriter } from './stub-writer.ts';

export interface ThroughputOptions {
  readonly directory: string;
  readonly shape: Shape;
  /** Pod changes per second, one rate after the other. */
  readonly rates: readonly number[];
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly writeMs: number;
  readonly timeoutSeconds: number;
  readonly profileDirectory?: string;
  readonly say: (line: string) => void;
}

/** Each takes about half a millisecond. */
const [calibrateEveryMs, calibrations] = [100, 10];

/** Results of one rate with a number of reconcilers. */
export interface Throughput {
  readonly workers: number;
  readonly rate: number;
  readonly round: number;
  /** Pod changes per second, until every Service shows the last one. */
  readonly changesPerSecond: number;
  /** All messages applied: these Changes, the watch echoes of writes, and Outcomes. */
  readonly foldedPerSecond: number;
  readonly plansPerSecond: number;
  /** From a Change to the arrival of its plan at a writer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From the last append until every Service shows the last Change. */
  readonly convergenceSeconds: number;
  /** Partitions whose lease has another fencing token afterwards: it expired, or moved to another reconciler. */
  readonly leasesLost: number;
  /** CPU time of the reconcilers. */
  readonly cpuMicrosecondsPerChange: number;
  readonly cpuMicrosecondsPerFolded: number;
  /** Median duration of a fixed workload during the measurement: processors that share a core slow each other down. */
  readonly unitMicroseconds: number;
  /** Processors in use. */
  readonly cores: {
    readonly reconcilers: number;
    readonly nats: number;
    readonly redis: number;
    readonly bench: number;
  };
}

/** Measures a number of reconcilers on their own servers, one rate after the other. */
export async function measureThroughput(
  workers: number,
  round: number,
  options: ThroughputOptions,
): Promise<readonly Throughput[]> {
  const { shape, say, profileDirectory } = options;
  timeUnit(5_000); // The calibration code is compiled from here on.
  say(`round ${round}, ${workers} reconcilers: ${shape.services} Services × ${shape.pods} Pods`);
  const directory = join(options.directory, `${round}-${workers}`);
  const fleet = await Fleet.start({ directory, ...(profileDirectory !== undefined && { profileDirectory }) });
  const ports = { clock, random, logger: silentLogger };
  const natsOptions = { servers: [fleet.nats.url], partitions: defaultPartitions };
  const connect = async () => new NetworkedBus(await connectJetStreamBus(natsOptions, ports), ports);
  // A watcher and a writer have one connection each.
  const [toWatch, toWrite] = [await connect(), await connect()];
  const shares = await Shares.open(fleet.redis.url);
  try {
    const reconcilers = await Promise.all(Array.from({ length: workers }, () => fleet.run('reconciler')));
    const stubbed = new StubbedFleet(options, fleet, reconcilers, toWatch, toWrite, shares);
    await stubbed.begin();
    await stubbed.awaitEvenShares();
    if (options.warmUpSeconds > 0) await stubbed.load(options.rates[0] ?? 1, options.warmUpSeconds);
    const results: Throughput[] = [];
    for (const rate of options.rates) {
      const result = { workers, round, ...(await stubbed.load(rate, options.seconds)) };
      const { changesPerSecond, p99Ms, convergenceSeconds } = result;
      say(
        `  ${rate}/s: ${changesPerSecond.toFixed(0)} Changes/s, p99 ${p99Ms.toFixed(0)} ms, ` +
          `converged after ${convergenceSeconds.toFixed(2)} s, ${result.cpuMicrosecondsPerChange.toFixed(0)} µs each`,
      );
      results.push(result);
    }
    stubbed.close();
    return results;
  } finally {
    await shares.close();
    await toWatch.close();
    await toWrite.close();
    await fleet.stop();
  }
}

/** Real reconciler processes between a stub watcher and stub writers. */
class StubbedFleet {
  readonly #options: ThroughputOptions;
  readonly #fleet: Fleet;
  readonly #reconcilers: readonly ServerProcess[];
  readonly #cluster = new StubCluster();
  readonly #feed: ChangeFeed;
  readonly #writer: StubWriter;
  readonly #pool: PodPool;
  #tracker = new FlipTracker();
  readonly #watch: Bus;
  readonly #shares: Shares;
  #loading = false;
  #requests: PartitionReader | undefined;
  #failure: unknown;
  #folded = 0;

  constructor(
    options: ThroughputOptions,
    fleet: Fleet,
    reconcilers: readonly ServerProcess[],
    watch: Bus,
    write: Bus,
    shares: Shares,
  ) {
    this.#shares = shares;
    this.#options = options;
    this.#fleet = fleet;
    this.#reconcilers = reconcilers;
    this.#watch = watch;
    this.#feed = new ChangeFeed(watch, () => this.#cluster.versions);
    this.#pool = new PodPool(benchPods(options.shape), seededRandom(1));
    this.#writer = new StubWriter({
      bus: write,
      cluster: this.#cluster,
      writeMs: options.writeMs,
      onPlan: (plan, at) => this.#planned(plan, at),
      onApplied: ({ key }, { facts }) => {
        this.#folded += 1 + facts.length;
        this.#feed.echo(key, facts);
      },
    });
  }

  /** Publishes everything, on the resync requests of reconcilers without state, and waits until it is written. */
  async begin(): Promise<void> {
    this.#requests = this.#watch.read('requests', 0, streamStart);
    void this.#answerRequests(this.#requests).catch((error: unknown) => {
      this.#failure ??= error;
    });
    await this.#awaitConvergence();
  }

  async #answerRequests(requests: PartitionReader): Promise<void> {
    for (;;) {
      const records = await requests.next(64);
      if (records.length === 0) return;
      for (const { payload } of records) {
        const message = decodeMessage(payload);
        if (message.kind !== 'resync' || !('partition' in message.scope))
          throw new Error('unexpected resync request for a Service');
        // A reconciler that loses its lease before its first commit leaves no offset, so the next one sends a request again.
        if (this.#loading) throw new Error(`unexpected resync request under load: ${message.reason}`);
        this.#feed.snapshot(this.#options.shape, message.scope.partition);
      }
    }
  }

  async awaitEvenShares(): Promise<void> {
    const deadline = performance.now() + this.#options.timeoutSeconds * 1000;
    while (!(await this.#shares.areEven('reconciler', this.#reconcilers, defaultPartitions))) {
      if (performance.now() > deadline) throw new Error('the reconcilers do not share the partitions evenly');
      await sleep(100);
    }
  }

  async load(rate: number, seconds: number): Promise<Omit<Throughput, 'workers' | 'round'>> {
    this.#loading = true;
    this.#tracker = new FlipTracker();
    const [folded, plans, cpu, started] = [this.#folded, this.#writer.plans, this.#cpu(), performance.now()];
    const units: number[] = [];
    const tokens = await this.#shares.fencingTokens('reconciler');
    const total = await this.#feedPods(rate, seconds, units);
    const fed = performance.now();
    await this.#awaitConvergence();
    const elapsed = (performance.now() - started) / 1000;
    const spent = difference(this.#cpu(), cpu);
    const foldedNow = this.#folded - folded + total;
    const { latencies } = this.#tracker.results();
    const tokensNow = await this.#shares.fencingTokens('reconciler');
    return {
      rate,
      changesPerSecond: total / elapsed,
      foldedPerSecond: foldedNow / elapsed,
      plansPerSecond: (this.#writer.plans - plans) / elapsed,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: reliablePercentile(latencies, 0.99),
      convergenceSeconds: (performance.now() - fed) / 1000,
      leasesLost: [...tokens].filter(([scope, token]) => tokensNow.get(scope) !== token).length,
      cpuMicrosecondsPerChange: (spent.reconcilers / total) * 1e6,
      cpuMicrosecondsPerFolded: (spent.reconcilers / foldedNow) * 1e6,
      unitMicroseconds: percentile(units, 0.5),
      cores: {
        reconcilers: spent.reconcilers / elapsed,
        nats: spent.nats / elapsed,
        redis: spent.redis / elapsed,
        bench: spent.bench / elapsed,
      },
    };
  }

  close(): void {
    this.#requests?.close();
    this.#writer.close();
  }

  /** Open loop: each Change is sent at its planned time, whatever the progress of the reconcilers. */
  async #feedPods(rate: number, seconds: number, units: number[]): Promise<number> {
    const total = Math.round(rate * seconds);
    const started = performance.now();
    let calibrated = started;
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, Math.ceil(((performance.now() - started) / 1000) * rate));
      for (; sent < due; sent += 1) this.#flip();
      this.#check();
      if (performance.now() - calibrated >= calibrateEveryMs) {
        units.push(timeUnit(calibrations));
        calibrated = performance.now();
      }
      await sleep(1);
    }
    return total;
  }

  #flip(): void {
    const { pod, ready } = this.#pool.take();
    this.#tracker.sent(pod.name, ready);
    // Counts from when the record could be read; the append is acknowledged later.
    this.#tracker.acknowledged(pod.name, ready, performance.now());
    this.#feed.pod(pod, ready);
  }

  #planned({ controller, groups }: PlannedMutations, at: number): void {
    if (controller !== 'endpointslice') return;
    for (const { mutations } of groups) {
      for (const mutation of mutations) {
        if (mutation.verb === 'delete' || mutation.resource !== 'endpointslices') continue;
        for (const { targetRef, conditions } of mutation.object.endpoints ?? []) {
          const name = targetRef?.name ?? '';
          if (this.#tracker.shown(name, conditions?.ready !== false, at)) this.#pool.release(name);
        }
      }
    }
  }

  async #awaitConvergence(): Promise<void> {
    const deadline = performance.now() + this.#options.timeoutSeconds * 1000;
    const quiet = () => this.#feed.appender.idle && this.#writer.idle && this.#tracker.pending === 0;
    while (!quiet() || this.#wrong() !== undefined) {
      this.#check();
      if (performance.now() > deadline)
        throw new Error(`no convergence within the time limit: ${this.#wrong() ?? 'plans are missing'}`);
      await sleep(5);
    }
  }

  /** Describes the first Service that differs from its Pods. */
  #wrong(): string | undefined {
    const { notReady } = this.#pool;
    const { shape } = this.#options;
    for (const [index, service] of serviceNames(shape).entries()) {
      const pods = Array.from({ length: shape.pods }, (_, pod) => `${service}-${pod}`);
      const [slices, endpoints] = [this.#cluster.inSlices(service), this.#cluster.inEndpoints(service)];
      for (const shown of [slices, endpoints]) {
        const where = shown === slices ? 'EndpointSlices' : 'Endpoints';
        if (shown.size !== shape.pods) return `${service} (${index}): ${shown.size} Pods in its ${where}`;
        const pod = pods.find((name) => shown.get(name) !== !notReady.has(name));
        if (pod !== undefined) return `${service}: ${pod} is ${shown.get(pod) ? 'ready' : 'not ready'} in its ${where}`;
      }
    }
    return undefined;
  }

  /** @throws the first failure */
  #check(): void {
    this.#feed.appender.check();
    this.#writer.check();
    if (this.#failure !== undefined) throw this.#failure;
    const ended = this.#reconcilers.find(({ running }) => !running);
    if (ended !== undefined) throw new Error(`${ended.name} exited; its log: ${ended.command.log}`);
  }

  #cpu(): Cpu {
    const of = ({ pid }: ServerProcess) => (pid === undefined ? 0 : cpuSeconds(pid));
    const { user, system } = process.cpuUsage();
    return {
      reconcilers: this.#reconcilers.reduce((sum, reconciler) => sum + of(reconciler), 0),
      nats: of(this.#fleet.nats.process),
      redis: of(this.#fleet.redis.process),
      bench: (user + system) / 1e6,
    };
  }
}

type Cpu = Throughput['cores'];

function difference(after: Cpu, before: Cpu): Cpu {
  return {
    reconcilers: after.reconcilers - before.reconcilers,
    nats: after.nats - before.nats,
    redis: after.redis - before.redis,
    bench: after.bench - before.bench,
  };
}
