import { type Bus, BusClosedError, type BusRecord } from '@sluice/bus';
import {
  type Cause,
  type Change,
  encodeMessage,
  formatServiceKey,
  parseServiceKey,
  partitionOf,
  type ServiceKey,
  type SnapshotPart,
  traceHeaders,
} from '@sluice/messages';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import type { Tracer } from '@sluice/telemetry';
import { ChangeTraces, type TracedChange } from './change-traces.ts';
import { compose } from './compose.ts';
import type { Inventory } from './inventory.ts';
import { addMark, type Mark, type Marks, noMarks } from './marks.ts';

export interface PublisherOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Of this watcher's tenure; rises with each take-over. */
  readonly epoch: number;
  readonly bus: Bus;
  readonly inventory: Inventory;
  /** Up to which resourceVersion the inventory speaks. */
  readonly versions: () => SnapshotPart['versions'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

interface Lane {
  readonly pending: Map<string, { readonly key: ServiceKey; readonly marks: Marks }>;
  running: boolean;
  /** `n` of the last Change. */
  last: number;
}

/** Services of one append at most: large enough to batch a cold start, small enough to let others in between. */
const servicesPerAppend = 64;

/**
 * Sends Changes. While a partition's last append is on its way, whatever else happens to its Services gathers as marks;
 * so what waits is bounded by the number of objects, not of events, and a slow bus gets fewer, larger messages.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #lanes: readonly Lane[];
  /** Services that were told of. The first word about one is a snapshot, or nothing would be decided for it. */
  readonly #told = new Set<string>();
  readonly #traces: ChangeTraces | undefined;
  #n = 0;
  #closed = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#traces = options.tracer && new ChangeTraces({ ...options, tracer: options.tracer });
    this.#lanes = Array.from({ length: options.bus.partitions }, () => ({
      pending: new Map(),
      running: false,
      last: 0,
    }));
  }

  mark(namespace: string, service: string, mark: Mark, cause?: Cause): void {
    const key = { cluster: this.#options.cluster, namespace, service };
    const text = formatServiceKey(key);
    const partition = partitionOf(text, this.#lanes.length);
    const lane = this.#lanes[partition];
    if (lane === undefined || this.#closed) return;
    let entry = lane.pending.get(text);
    if (entry === undefined) {
      entry = { key, marks: noMarks() };
      lane.pending.set(text, entry);
    }
    const { marks } = entry;
    addMark(marks, mark, cause);
    if (this.#traces !== undefined && cause !== undefined) marks.traces = this.#traces.begin(marks.traces, cause);
    if (!this.#told.has(text)) {
      this.#told.add(text);
      marks.snapshot = true;
    }
    if (lane.running) return;
    lane.running = true;
    // Not at once: the rest of the batch of watch events that is being worked off belongs into the same Change.
    queueMicrotask(() => void this.#run(partition, lane));
  }

  /** Services that were told of, also those of which nothing is left by now. */
  get told(): Iterable<ServiceKey> {
    return [...this.#told].map(parseServiceKey);
  }

  /** For each partition that has any, one of the Services that were told of. */
  onePerPartition(): Iterable<ServiceKey> {
    const chosen = new Map<number, string>();
    for (const text of this.#told) chosen.set(partitionOf(text, this.#lanes.length), text);
    return [...chosen.values()].map(parseServiceKey);
  }

  /** Nothing is left to tell of the Service; should it come back, it begins with a snapshot. */
  forget(namespace: string, service: string): void {
    this.#told.delete(formatServiceKey({ cluster: this.#options.cluster, namespace, service }));
  }

  close(): void {
    this.#closed = true;
  }

  async #run(partition: number, lane: Lane): Promise<void> {
    try {
      while (lane.pending.size > 0 && !this.#closed) {
        const traced: TracedChange[] = [];
        await this.#append(partition, this.#take(lane, traced));
        this.#traces?.published(partition, traced);
      }
    } catch (error) {
      if (!(error instanceof BusClosedError)) this.#options.logger.error('publishing stopped', { partition, error });
    } finally {
      lane.running = false;
    }
  }

  #take(lane: Lane, traced: TracedChange[]): BusRecord[] {
    const records: BusRecord[] = [];
    let taken = 0;
    for (const [text, { key, marks }] of lane.pending) {
      lane.pending.delete(text);
      records.push(...this.#records(lane, text, key, marks, traced));
      if (++taken >= servicesPerAppend) break;
    }
    return records;
  }

  #records(lane: Lane, text: string, key: ServiceKey, marks: Marks, traced: TracedChange[]): BusRecord[] {
    const { inventory, epoch, versions } = this.#options;
    const upTo = versions();
    const parts = compose(inventory, key.namespace, key.service, marks, upTo);
    return parts.map((part, i) => {
      const stamp = { epoch, n: ++this.#n };
      const previous = lane.last;
      lane.last = stamp.n;
      const isLast = i === parts.length - 1;
      const versions = isLast ? { versions: upTo } : {};
      const change: Change = { kind: 'change', key, stamp, previous, ...part, ...versions, causes: marks.causes };
      const id = `${key.cluster}/${stamp.epoch}/${stamp.n}`;
      // The last part of a snapshot is the one that leads to a decision.
      const trace = isLast ? marks.traces[0]?.trace : undefined;
      if (trace !== undefined && this.#traces) traced.push(this.#traces.compose(key, id, marks.traces));
      return { key: text, id, headers: traceHeaders(trace), payload: encodeMessage(change) };
    });
  }

  /** Tries until it succeeds: the same records with the same ids, before any later ones of the partition. */
  async #append(partition: number, records: readonly BusRecord[]): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await bus.append('changes', partition, records);
      } catch (error) {
        if (error instanceof BusClosedError || this.#closed) throw error;
        const delayMs = backoffMs({ baseMs: 50, maxMs: 5_000 }, attempt, random);
        logger.warn('bus did not take Changes; trying again', { partition, attempt, delayMs, error });
        await sleep(clock, delayMs);
      }
    }
  }
}
