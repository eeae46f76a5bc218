import { type HeldLease, Ownership } from '@sluice/fleet/ownership';
import { type Random, silentLogger, sleep, type VirtualClock } from '@sluice/platform';
import { type Leases, MemoryLeases } from '@sluice/store';
import { Metrics, type PartitionLag, partitionLag } from '@sluice/telemetry';
import { parseScrape, sampleOf } from '@sluice/telemetry/testing';

export interface FleetOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly partitions: number;
  /** Time of the event loop per Change, in milliseconds. */
  readonly costMs: number;
  /** Part of the event loop's time that a process takes without any Change. */
  readonly idleUtilization: number;
}

/** How long it takes until a new owner has restored the state of a partition, and until an old one has committed its own. */
const partitionMs = { start: 30, stop: 20 };
/** Response time of the store. */
const storeMs = 1;
/** Time from the decision to add a Pod until it works. */
const startupMs = 8_000;
/** A process works in slices of this length. */
const sliceMs = 100;

interface Partition {
  /** Changes published and processed. */
  end: number;
  offset: number;
  /** When its last owner stopped; undefined while somebody works on it. */
  idleSince: number | undefined;
}

/** Workers with the ownership, the hand-over and the metrics of real ones. Their work costs virtual time. */
export class SimulatedFleet {
  readonly partitions: readonly Partition[];
  /** How long partitions were without owner when they moved, in milliseconds. */
  readonly gapsMs: number[] = [];
  readonly #options: FleetOptions;
  readonly #leases: Leases;
  readonly #workers: Worker[] = [];
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#leases = slow(new MemoryLeases(options.clock), options.clock);
    this.partitions = Array.from({ length: options.partitions }, () => ({ end: 0, offset: 0, idleSince: undefined }));
  }

  get size(): number {
    return this.#workers.length;
  }

  get backlog(): number {
    return this.partitions.reduce((sum, { end, offset }) => sum + end - offset, 0);
  }

  /** Starts or stops workers; the youngest stop first. */
  scaleTo(replicas: number, startupDelayMs = startupMs): void {
    while (this.size < replicas) {
      const name = `worker-${this.#started++}`;
      this.#workers.push(
        new Worker(name, this.#options, {
          leases: this.#leases,
          partitions: this.partitions,
          startupDelayMs,
          moved: (ms) => this.gapsMs.push(ms),
        }),
      );
    }
    while (this.size > replicas) this.#workers.pop()?.stop();
  }

  /** Publishes Changes and has all workers work for one slice. */
  step(changesPerSecond: number): number {
    for (const partition of this.partitions) {
      const expected = (changesPerSecond * sliceMs) / 1000 / this.partitions.length;
      partition.end += Math.floor(expected + this.#options.random.next());
    }
    for (const worker of this.#workers) worker.work();
    return sliceMs;
  }

  /** The metric of each running worker. */
  async scrape(): Promise<readonly number[]> {
    const values = await Promise.all(this.#workers.filter(({ isRunning }) => isRunning).map((each) => each.scrape()));
    return values;
  }
}

interface WorkerContext {
  readonly leases: Leases;
  readonly partitions: readonly Partition[];
  readonly startupDelayMs: number;
  readonly moved: (gapMs: number) => void;
}

class Worker {
  isRunning = false;
  readonly #options: FleetOptions;
  readonly #context: WorkerContext;
  readonly #stop = new AbortController();
  readonly #held = new Map<number, PartitionLag>();
  readonly #metrics: Metrics;
  #busyMs = 0;

  constructor(name: string, options: FleetOptions, context: WorkerContext) {
    this.#options = options;
    this.#context = context;
    const { clock } = options;
    this.#metrics = new Metrics({
      ...{ clusters: new Map(), process: false },
      demand: { clock, busyMs: () => this.#busyMs },
    });
    const scopes = context.partitions.map((_, partition) => String(partition));
    const ownership = new Ownership({
      ...{ leases: context.leases, group: 'reconciler', member: name, scopes, ttlMs: 900, heartbeatMs: 250 },
      ...{ clock, random: options.random, logger: silentLogger, work: (lease) => this.#own(lease) },
    });
    const run = async () => {
      await sleep(clock, context.startupDelayMs, this.#stop.signal);
      this.isRunning = true;
      await ownership.run(this.#stop.signal);
    };
    void run();
  }

  stop(): void {
    this.isRunning = false;
    this.#stop.abort();
  }

  async #own({ scope, signal, started }: HeldLease): Promise<void> {
    const { clock } = this.#options;
    const number = Number(scope);
    const partition = this.#context.partitions[number];
    if (partition === undefined) throw new Error(`no partition ${scope}`);
    await sleep(clock, partitionMs.start, signal);
    const bus = { end: async () => ({ offset: partition.end }) };
    const lag = partitionLag(this.#metrics, { bus, clock }, 'changes', number);
    lag.reached(partition.offset);
    if (partition.idleSince !== undefined) this.#context.moved(clock.monotonic() - partition.idleSince);
    partition.idleSince = undefined;
    this.#held.set(number, lag);
    started();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.#held.delete(number);
    partition.idleSince = clock.monotonic();
    lag.close();
    await sleep(clock, partitionMs.stop);
  }

  /** Processes one slice of Changes, from all its partitions in turn. */
  work(): void {
    const { costMs, idleUtilization } = this.#options;
    if (!this.isRunning) return;
    let freeMs = sliceMs * (1 - idleUtilization);
    this.#busyMs += sliceMs * idleUtilization;
    const share = freeMs / Math.max(1, this.#held.size);
    for (const round of ['fair share', 'rest']) {
      for (const [number, lag] of this.#held) {
        const partition = this.#context.partitions[number];
        if (partition === undefined) continue;
        const mayUse = round === 'rest' ? freeMs : Math.min(share, freeMs);
        const records = Math.min(partition.end - partition.offset, Math.floor(mayUse / costMs));
        partition.offset += records;
        freeMs -= records * costMs;
        this.#busyMs += records * costMs;
        lag.reached(partition.offset);
      }
    }
  }

  async scrape(): Promise<number> {
    return sampleOf(parseScrape(await this.#metrics.text()), 'sluice_desired_replicas');
  }
}

/** A store whose answers take time. */
function slow(leases: MemoryLeases, clock: VirtualClock): Leases {
  return {
    async heartbeat(heartbeat) {
      await sleep(clock, storeMs);
      return leases.heartbeat(heartbeat);
    },
    leave: (group, member) => leases.leave(group, member),
    state: (group) => leases.state(group),
    watch: (group, onChange) => leases.watch(group, () => void clock.schedule(storeMs, onChange)),
  };
}
