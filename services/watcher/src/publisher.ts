import { type Bus, BusClosedError, type BusRecord } from '@sluice/bus';
import {
  type Cause,
  type Change,
  type Digest,
  digestFacts,
  formatServiceKey,
  MessageRecord,
  parseServiceKey,
  partitionOf,
  type ServiceKey,
  type SnapshotPart,
  type Stamp,
  shortDigest,
  traceHeaders,
} from '@sluice/messages';
import { backoffMs, type Clock, type Logger, type Random, sleep, type YieldQueue } from '@sluice/runtime';
import type { Tracer } from '@sluice/telemetry';
import { ChangeTraces, type TracedChange } from './change-traces.ts';
import { compose, digest } from './compose.ts';
import { type Inventory, objectName } from './inventory.ts';
import type { Ledger } from './ledger.ts';
import { addMark, type Mark, type Marks, noMarks } from './marks.ts';

export interface PublisherOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Of this watcher's tenure; rises with each take-over. */
  readonly epoch: number;
  readonly bus: Bus;
  readonly inventory: Inventory;
  /** Up to which resourceVersion the inventory speaks. */
  readonly versions: () => SnapshotPart['resourceVersions'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all that a process computes. Default: each goes on as soon as it can. */
  readonly turns?: YieldQueue | undefined;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Remembers what was told beyond this watcher's end. Default: nobody does. */
  readonly ledger?: Ledger | undefined;
}

interface Lane {
  readonly pending: Map<string, { readonly key: ServiceKey; readonly marks: Marks }>;
  /** Services of the append that is on its way. */
  sending: ReadonlySet<string>;
  running: boolean;
  /** Of the run that is going on, or the last one. */
  done: Promise<void>;
  /** Stamp of the last Change, perhaps another watcher's; `n` is 0 if there was none. */
  last: Stamp;
}

/** Services of one append at most: large enough to batch a cold start, small enough to let others in between. */
const servicesPerAppend = 64;

/** So long nothing must have been told of a Service before its digest is stored: one that keeps changing costs no writes. */
const quietMs = 10_000;
/** Looked at in one go: some ten milliseconds. */
const factsPerSettling = 2_500;

/**
 * Sends Changes. While a partition's last append is on its way, whatever else happens to its Services gathers as marks;
 * so what waits is bounded by the number of objects, not of events, and a slow bus gets fewer, larger messages.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #lanes: readonly Lane[];
  /** Services that were told of. The first word about one is a snapshot, or nothing would be decided for it. */
  readonly #told = new Set<string>();
  /** Of which nothing was left by the last word: if anything comes under the name again, it begins with a snapshot too. */
  readonly #gone = new Set<string>();
  readonly #traces: ChangeTraces | undefined;
  /** When Services were last told of whose digest is not stored, by the monotonic clock. */
  readonly #unsettled = new Map<string, number>();
  #n = 0;
  #closed = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#traces = options.tracer && new ChangeTraces({ ...options, tracer: options.tracer });
    this.#lanes = Array.from({ length: options.bus.partitions }, (_, partition) => ({
      pending: new Map(),
      sending: new Set<string>(),
      running: false,
      done: Promise.resolve(),
      last: options.ledger?.last(partition) ?? { epoch: options.epoch, sequence: 0 },
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
    if (this.#traces !== undefined && cause !== undefined) marks.traces = this.#traces.start(marks.traces, cause);
    if (!this.#told.has(text) || this.#gone.delete(text)) marks.snapshot = true;
    this.#told.add(text);
    if (lane.running) return;
    lane.running = true;
    // Not at once: the rest of the batch of watch events that is being worked off belongs into the same Change.
    lane.done = Promise.resolve().then(() => this.#run(partition, lane));
  }

  /** Services that were told of, also those of which nothing is left by now. */
  get told(): Iterable<ServiceKey> {
    return [...this.#told].map(parseServiceKey);
  }

  /** Another watcher told all that is known of the Service, and the ledger has it. */
  resume(text: string): void {
    this.#told.add(text);
  }

  /**
   * The Services whose turn it is in this round, so that each comes once in so many rounds; of each partition that has
   * any, at least one.
   */
  turn(round: number, rounds: number): readonly ServiceKey[] {
    const byPartition = Map.groupBy(this.#told, (text) => partitionOf(text, this.#lanes.length));
    return [...byPartition.values()].flatMap((texts) => {
      const chosen = texts.filter((_, i) => i % rounds === round % rounds);
      return (chosen.length > 0 ? chosen : texts.slice(round % texts.length).slice(0, 1)).map(parseServiceKey);
    });
  }

  /** Services of which something was told that the ledger does not have yet. */
  get unsettled(): number {
    return this.#unsettled.size;
  }

  /**
   * Stores digests of Services that have been quiet for a while and of which nothing is on its way, as many as a few
   * milliseconds allow; with `all`, of every one of which nothing is on its way.
   */
  async settle(all = false): Promise<void> {
    const { ledger, inventory, clock } = this.#options;
    if (ledger === undefined) return;
    const digests = new Map<string, string | undefined>();
    const lasts = new Map<number, Stamp>();
    let facts = 0;
    for (const [text, at] of this.#unsettled) {
      if (!all && (facts > factsPerSettling || clock.monotonic() - at < quietMs)) break;
      const partition = partitionOf(text, this.#lanes.length);
      const lane = this.#lanes[partition];
      if (lane === undefined || lane.pending.has(text) || lane.sending.has(text)) continue;
      const { namespace, service } = parseServiceKey(text);
      const found = digest(inventory, namespace, service);
      digests.set(text, found && shortDigest(found));
      facts += 1 + inventory.membersOf(objectName(namespace, service)).size;
      lasts.set(partition, lane.last);
      this.#unsettled.delete(text);
    }
    if (digests.size > 0) await ledger.settle(digests, lasts);
  }

  /** Resolves once nothing waits to be sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#lanes.map(({ done }) => done));
  }

  /** Nothing is left to tell of the Service; should it come back, it begins with a snapshot. */
  forget(namespace: string, service: string): void {
    const text = formatServiceKey({ cluster: this.#options.cluster, namespace, service });
    this.#told.delete(text);
    this.#gone.delete(text);
  }

  close(): void {
    this.#closed = true;
  }

  async #run(partition: number, lane: Lane): Promise<void> {
    try {
      while (lane.pending.size > 0 && !this.#closed) {
        const services = [...lane.pending.keys()].slice(0, servicesPerAppend);
        await this.#options.ledger?.begin(services);
        await this.#options.turns?.next();
        const traced: TracedChange[] = [];
        await this.#append(partition, this.#take(lane, services, traced));
        this.#sent(lane);
        this.#traces?.published(partition, traced);
      }
    } catch (error) {
      if (!(error instanceof BusClosedError || this.#options.ledger?.over.aborted))
        this.#options.logger.error('publishing stopped', { partition, error });
    } finally {
      lane.running = false;
    }
  }

  #take(lane: Lane, services: readonly string[], traced: TracedChange[]): BusRecord[] {
    lane.sending = new Set(services);
    return services.flatMap((text) => {
      const entry = lane.pending.get(text);
      lane.pending.delete(text);
      return entry === undefined ? [] : this.#records(lane, text, entry.key, entry.marks, traced);
    });
  }

  #sent(lane: Lane): void {
    if (this.#options.ledger !== undefined) {
      const now = this.#options.clock.monotonic();
      for (const text of lane.sending) {
        // At the end: the longest quiet ones come first.
        this.#unsettled.delete(text);
        this.#unsettled.set(text, now);
      }
    }
    lane.sending = new Set();
  }

  #records(lane: Lane, text: string, key: ServiceKey, marks: Marks, traced: TracedChange[]): BusRecord[] {
    const { inventory, epoch, versions } = this.#options;
    const upTo = versions();
    const parts = compose(inventory, key.namespace, key.service, marks, upTo);
    if (this.#told.has(text) && !inventory.has(key.namespace, key.service)) this.#gone.add(text);
    return parts.map((part, i) => {
      const stamp = { epoch, sequence: ++this.#n };
      const { last } = lane;
      lane.last = stamp;
      const isLast = i === parts.length - 1;
      const change: Change = {
        kind: 'change',
        key,
        stamp,
        previousSequence: last.sequence,
        ...(last.epoch !== epoch && { previousEpoch: last.epoch }),
        ...part,
        ...(isLast && { resourceVersions: upTo }),
        ...(isLast && marks.digest && { digest: this.#digest(key) }),
        causes: marks.causes,
      };
      const id = `${key.cluster}/${stamp.epoch}/${stamp.sequence}`;
      // The last part of a snapshot is the one that leads to a decision.
      const trace = isLast ? marks.traces[0]?.trace : undefined;
      if (trace !== undefined && this.#traces) traced.push(this.#traces.compose(key, id, marks.traces));
      return new MessageRecord({ key: text, id, headers: traceHeaders(trace) }, change);
    });
  }

  #digest({ namespace, service }: ServiceKey): Digest {
    return digest(this.#options.inventory, namespace, service) ?? digestFacts([]);
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
