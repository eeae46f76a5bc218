import { type Delivery, MemoryBus, streamStart, type Topic } from '@sluice/bus';
import {
  decodeMessage,
  encodeMessage,
  formatServiceKey,
  type Message,
  type PlannedMutations,
  type ResyncRequest,
  type TraceContext,
  traceHeaders,
} from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { keyText } from '@sluice/service-state/testing';
import { MemoryStore, type StoredEntry } from '@sluice/store';
import type { PartitionMetrics } from '../metrics.ts';
import { PartitionWorker } from '../partition-worker.ts';
import type { PartitionWorkerOptions } from '../worker-options.ts';

interface TestPartitionOptions extends Partial<Omit<PartitionWorkerOptions, 'settings'>> {
  readonly settings?: Partial<Settings>;
}

/** A partition with its worker, whose bus, store and clock are in memory. Only the EndpointSlice controller is enabled. */
export class TestPartition {
  readonly clock = new VirtualClock(1_000_000);
  readonly bus: MemoryBus;
  readonly store = new MemoryStore();
  readonly logger = recordingLogger();
  /** What the worker has reported to its metrics. */
  readonly reported: ReturnType<typeof recordingMetrics>['calls'];
  readonly deadLetters: string[] = [];
  readonly #metrics: ReturnType<typeof recordingMetrics>['metrics'];
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(bus = new MemoryBus({ partitions: 1 })) {
    this.bus = bus;
    ({ metrics: this.#metrics, calls: this.reported } = recordingMetrics());
  }

  async start({ settings, ...given }: TestPartitionOptions = {}): Promise<void> {
    this.#stop = new AbortController();
    const { bus, store, clock, logger } = this;
    this.#running = new PartitionWorker({
      ...{ partition: 0, fencingToken: 1, bus, store, clock, logger, random: seededRandom(1) },
      settings: { ...defaultSettings, controllers: new Set(['endpointslice']), ...settings },
      metrics: { open: () => this.#metrics },
      onDeadLetter: (_record, reason) => this.deadLetters.push(reason),
      ...given,
    }).run(this.#stop.signal);
    this.#running.catch(() => {});
    await this.settle();
  }

  /** Stops the worker; rejects if it has failed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.settle();
    await this.#running;
  }

  async restart(given: TestPartitionOptions = {}): Promise<void> {
    await this.stop();
    await this.start(given);
  }

  settle(ms = 0): Promise<void> {
    return advance(this.clock, ms);
  }

  /** Each message arrives once the one before it is processed. */
  async send(...messages: readonly Exclude<Message, ResyncRequest>[]): Promise<void> {
    for (const message of messages) {
      const key = message.kind === 'clusterRemoved' ? message.cluster : formatServiceKey(message.key);
      await this.sendRaw(encodeMessage(message), key);
    }
  }

  async sendRaw(payload: Uint8Array, key = keyText, trace?: TraceContext): Promise<void> {
    await this.bus.append('changes', 0, [{ key, id: 'id', headers: traceHeaders(trace), payload }]);
    await this.settle();
  }

  async records(topic: Topic): Promise<readonly Delivery[]> {
    if ((await this.bus.end(topic, 0)).offset === 0) return [];
    const reader = this.bus.read(topic, 0, streamStart);
    const records = await reader.next(1_000);
    reader.close();
    return records;
  }

  /** All published plans, redelivered ones included. */
  async plans(): Promise<readonly PlannedMutations[]> {
    return (await this.records('mutations')).map(({ payload }) => decodeMessage(payload) as PlannedMutations);
  }

  async lastPlan(): Promise<PlannedMutations> {
    const plan = (await this.plans()).at(-1);
    if (plan === undefined) throw new Error('no plan');
    return plan;
  }

  async requests(): Promise<readonly ResyncRequest[]> {
    return (await this.records('requests')).map(({ payload }) => decodeMessage(payload) as ResyncRequest);
  }

  get stored(): readonly StoredEntry[] {
    return this.store.peek('reconciler/0').entries;
  }

  /** Calls of one method of the metrics, with their arguments. */
  reportedAs(method: string): readonly (readonly unknown[])[] {
    return this.reported.flatMap(([name, ...args]) => (name === method ? [args] : []));
  }
}

export type MetricsCall = readonly [method: string, ...args: unknown[]];

/** Metrics that keep what is reported, in order. */
export function recordingMetrics(): { readonly metrics: PartitionMetrics; readonly calls: MetricsCall[] } {
  const calls: MetricsCall[] = [];
  const metrics = new Proxy({} as PartitionMetrics, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        void calls.push([method, ...args]),
  });
  return { metrics, calls };
}
