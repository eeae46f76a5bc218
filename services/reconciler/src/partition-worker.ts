import {
  type Bus,
  type Cursor,
  type Delivery,
  isLogLostError,
  origin,
  type PartitionReader,
  readUntilAborted,
} from '@sluice/bus';
import type { Controller } from '@sluice/controllers';
import {
  type Change,
  type ClusterForgotten,
  decodeMessage,
  encodeMessage,
  formatServiceKey,
  isMessageError,
  isServiceKey,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  parseServiceKey,
  partitionOf,
  type TraceParent,
  traceFields,
  traceHeaders,
  traceOf,
} from '@sluice/messages';
import { type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import { FencedError, type OutboxEntry, type Store, type StoredEntry } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import { askAgain } from './ask-again.ts';
import { awaitsSnapshot, differences } from './compare-digest.ts';
import { decide, decisionOrder, isDue } from './decide.ts';
import { distrust } from './distrust.ts';
import { DueQueue } from './due-queue.ts';
import { foldChange } from './fold-change.ts';
import { foldOutcome } from './fold-outcome.ts';
import { Heard } from './heard.ts';
import { isForgettable } from './is-forgettable.ts';
import { noPartitionMetrics, type PartitionMetrics, type ReconcilerMetrics } from './metrics.ts';
import { PartitionTraces } from './partition-traces.ts';
import { PlanNumbers } from './plan-numbers.ts';
import { resyncRequest } from './resync-request.ts';
import { ServiceView } from './service-view.ts';
import type { Settings } from './settings.ts';
import { joinParts } from './stored-parts.ts';
import { WakeTimer } from './wake-timer.ts';

export interface PartitionWorkerOptions {
  readonly partition: number;
  /** Of the lease under which this worker owns the partition. */
  readonly epoch: number;
  /** False once the lease on the partition has run out; then nothing is published. Default: it never does. */
  readonly isCurrent?: () => boolean;
  /** False if plans were decided under this epoch before. Default: true. */
  readonly isNewEpoch?: boolean;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Settings;
  /** Default: nobody counts. */
  readonly metrics?: ReconcilerMetrics;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Told up to where the partition is done with, at the start and whenever that moves. */
  readonly onCheckpoint?: (position: number, partition: number) => void;
  /** Keeps a record aside that cannot be used; awaited before the checkpoint passes it. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}

/** Records folded before one commit. Bounds its size; what is left is folded next. */
const recordsPerCommit = 256;
/** At least, between requests because of what is missing, in milliseconds. */
const askIntervalMs = 1_000;

/**
 * Owns one partition: folds its records in order, decides for the Services they touched, commits the views, the
 * checkpoint and the plans in one step, and publishes the plans. A crash between any two steps is mended by starting
 * again from the store: what was committed is published (again), what was not is folded again.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  readonly #scope: string;
  readonly #views = new Map<string, ServiceView>();
  #heard = new Heard();
  #planNumbers = new PlanNumbers();
  /** When Services have something to decide though nothing comes in, by formatted key. */
  readonly #due = new DueQueue();
  #checkpoint: Cursor = origin;
  /** What is missing, if something is, and whose views are in doubt for it. */
  #missed: string | undefined;
  readonly #distrusted = new Set<string>();
  /** Removals of fields of views that are dropped, to be committed. */
  readonly #dropped: StoredEntry[] = [];
  /** Services whose views are not what the watcher knows, by formatted key: what it is that differs. */
  readonly #differing = new Map<string, string>();
  /** When something was last asked for because of that, by the monotonic clock. */
  #lastAsked = Number.NEGATIVE_INFINITY;
  #published: string[] = [];
  #metrics: PartitionMetrics = noPartitionMetrics;
  readonly #traces: PartitionTraces | undefined;

  constructor(options: PartitionWorkerOptions) {
    this.#options = options;
    this.#traces = options.tracer && new PartitionTraces({ ...options, tracer: options.tracer });
    this.#scope = `reconciler/${options.partition}`;
  }

  /** Runs until `signal` aborts or the bus closes. Throws FencedError once somebody else owns the partition. */
  async run(signal: AbortSignal): Promise<void> {
    const { metrics, partition } = this.#options;
    this.#metrics = metrics?.open(partition) ?? noPartitionMetrics;
    try {
      await this.#workOn(signal);
    } finally {
      this.#metrics.close();
    }
  }

  async #workOn(signal: AbortSignal): Promise<void> {
    await this.#restore();
    for (;;) {
      try {
        const { bus, partition } = this.#options;
        const reader = bus.read('changes', partition, this.#checkpoint);
        return await readUntilAborted(reader, signal, () => this.#work(reader, signal));
      } catch (error) {
        if (!isLogLostError(error)) throw error;
        await this.#startAfresh(error.message);
      }
    }
  }

  async #work(reader: PartitionReader, signal: AbortSignal): Promise<void> {
    const timer = new WakeTimer(this.#options.clock);
    try {
      let records = reader.next(recordsPerCommit);
      // While a step is going on nobody waits for the next records; their failure is seen after it.
      records.catch(() => {});
      while (!signal.aborted) {
        const batch = await Promise.race([records, timer.wake(this.#due.next())]);
        if (batch !== undefined) {
          if (batch.length === 0) return;
          records = reader.next(recordsPerCommit);
          records.catch(() => {});
        }
        await this.#step(batch ?? [], reader.log, signal);
        reader.release(this.#checkpoint.position);
      }
    } finally {
      timer.cancel();
    }
  }

  async #restore(): Promise<void> {
    const { store, epoch, isNewEpoch = true } = this.#options;
    const state = await store.claim(this.#scope, epoch);
    if (!isNewEpoch && !(state.checkpoint && state.intact)) {
      // Numbers of plans may be among what was lost: under this epoch they would be given twice.
      throw new FencedError(`${this.#scope}: the store may have lost what was decided under epoch ${epoch}`);
    }
    this.#reach(state.checkpoint ?? origin);
    this.#views.clear();
    this.#heard = new Heard();
    this.#planNumbers = new PlanNumbers();
    for (const entry of joinParts(state.entries)) {
      if (this.#heard.load(entry) || this.#planNumbers.load(entry)) continue;
      this.#view(entry.key).load(entry);
      this.#due.set(entry.key, 0);
    }
    for (const [key, view] of this.#views) this.#tellRestored(key, view);
    if (state.checkpoint !== null && state.intact) return this.#publish(state.outbox, (entry) => this.#originOf(entry));
    this.#published.push(...state.outbox.map(({ id }) => id));
    await this.#startAfresh(
      state.checkpoint === null ? 'the store knows nothing of it' : 'the store may have lost commits',
    );
  }

  /**
   * Something was lost between this worker and what it knew: it goes on at the end of the log, and decides nothing for a
   * Service before a fresh snapshot of it.
   */
  async #startAfresh(reason: string): Promise<void> {
    const { bus, partition, epoch, logger, clock } = this.#options;
    const end = await bus.end('changes', partition);
    logger.warn('starting afresh at the end of the log; all Services of the partition are asked for again', { reason });
    for (const view of this.#views.values()) distrust(view, clock.now());
    await bus.append('requests', 0, [resyncRequest({ partition }, reason, `${partition}/${epoch}/${clock.now()}`)]);
    await this.#commit(end, this.#entries(this.#views.keys()), []);
  }

  /** Changes before this one were lost unread, nobody knows of which Services. */
  #miss({ key: { cluster }, stamp }: Change, now: number): void {
    this.#missed = `Changes before ${stamp.epoch}/${stamp.n} of cluster ${cluster} are missing`;
    for (const [key, view] of this.#views) {
      if (view.key.cluster !== cluster) continue;
      distrust(view, now);
      this.#distrusted.add(key);
    }
  }

  /** What differs was lost without a trace, or was folded wrongly. */
  #compare(key: string, view: ServiceView, change: Change, now: number): void {
    if (awaitsSnapshot(view, change)) this.#differing.set(key, 'no snapshot has come since something was lost');
    const parts = differences(view, change);
    if (parts.length === 0) return;
    this.#metrics.differed(parts);
    distrust(view, now);
    this.#differing.set(key, `the view differs from the watcher's in ${parts.join(', ')}`);
  }

  async #askForDiffering(): Promise<void> {
    const { bus, partition, epoch, logger, clock } = this.#options;
    for (const [key, reason] of this.#differing) {
      logger.error('a view is wrong or incomplete; the Service is asked for again', { key, reason });
      const id = `${partition}/${epoch}/${clock.now()}/${key}`;
      await bus.append('requests', 0, [resyncRequest({ key: parseServiceKey(key) }, reason, id)]);
      this.#differing.delete(key);
    }
  }

  async #askForMissed(touched: Set<string>, signal: AbortSignal): Promise<void> {
    if (this.#missed === undefined) return;
    const { bus, partition, epoch, logger, clock } = this.#options;
    logger.warn('records were lost unread; all Services of the partition are asked for again', {
      reason: this.#missed,
    });
    // Before the commit, so that it cannot be forgotten; and not ever faster, should the answers be lost as well.
    const delayMs = this.#lastAsked + askIntervalMs - clock.monotonic();
    if (delayMs > 0) await sleep(clock, delayMs, signal);
    this.#lastAsked = clock.monotonic();
    const id = `${partition}/${epoch}/${clock.now()}`;
    await bus.append('requests', 0, [resyncRequest({ partition }, this.#missed, id)]);
    for (const key of this.#distrusted) touched.add(key);
    this.#distrusted.clear();
    this.#missed = undefined;
  }

  #tellRestored(key: string, view: ServiceView): void {
    for (const controller of decisionOrder) {
      const { counted, inFlight, parked } = view.controller(controller);
      this.#metrics.restored(key, controller, { counted, deciding: inFlight !== null, parked: parked !== null });
    }
  }

  async #step(batch: readonly Delivery[], log: string, signal: AbortSignal): Promise<void> {
    const now = this.#options.clock.now();
    const touched = new Set<string>();
    for (const record of batch) {
      const reason = this.#fold(record, now);
      if (reason !== undefined) await this.#setAside(record, reason);
      if (this.#views.has(record.key)) touched.add(record.key);
    }
    for (const key of touched) if (!this.#views.has(key)) touched.delete(key);
    await this.#askForMissed(touched, signal);
    await this.#askForDiffering();
    for (const key of this.#due.take(now)) touched.add(key);
    for (const key of touched) this.#tellDue(key, now);
    const plans: OutboxEntry[] = [];
    for (const key of touched) plans.push(...this.#decide(key, now));
    const last = batch.at(-1);
    const checkpoint = last === undefined ? this.#checkpoint : { position: last.position, id: last.id, log };
    await this.#commit(checkpoint, this.#entries(touched), plans);
    await this.#publish(plans);
  }

  /** What changed in the views; those of which nothing is left are dropped. */
  #entries(touched: Iterable<string>): StoredEntry[] {
    const entries: StoredEntry[] = [];
    for (const key of [...touched]) {
      const view = this.#views.get(key);
      if (view === undefined) continue;
      if (isForgettable(view)) {
        view.clear();
        this.#views.delete(key);
        this.#due.set(key, null);
        this.#metrics.dropped(key);
      }
      entries.push(...view.takeChanges(key));
    }
    return entries;
  }

  async #commit(checkpoint: Cursor, changed: StoredEntry[], publish: readonly OutboxEntry[]): Promise<void> {
    const { store, epoch } = this.#options;
    // What is dropped may have come back since.
    const entries = [
      ...this.#dropped.splice(0),
      ...changed,
      ...this.#heard.takeChanges(),
      ...this.#planNumbers.takeChanges(),
    ];
    if (checkpoint === this.#checkpoint && entries.length === 0) return;
    const published = this.#published;
    this.#published = [];
    const expected = this.#checkpoint.position;
    const startedAt = this.#traces?.now() ?? 0;
    await store.commit({ scope: this.#scope, epoch, expected, checkpoint, entries, publish, published });
    this.#traces?.committed(startedAt);
    this.#reach(checkpoint);
  }

  #reach(checkpoint: Cursor): void {
    this.#checkpoint = checkpoint;
    this.#options.onCheckpoint?.(checkpoint.position, this.#options.partition);
  }

  /** Of a cluster that is not served any more nothing is kept. Should it be served after all, what comes next shows a gap. */
  #forgetCluster(record: Delivery, { cluster, epoch }: ClusterForgotten): void {
    if (record.key !== cluster) throw new TypeError(`forgotten cluster ${cluster} under key ${record.key}`);
    if (this.#heard.hasHeardAfter(cluster, epoch)) return;
    for (const [key, view] of this.#views) {
      if (view.key.cluster !== cluster) continue;
      view.clear();
      this.#dropped.push(...view.takeChanges(key));
      this.#views.delete(key);
      this.#distrusted.delete(key);
      this.#differing.delete(key);
      this.#due.set(key, null);
      this.#metrics.dropped(key);
    }
    this.#heard.drop(cluster);
  }

  /** Folds the record into the view of its key, or returns why it cannot be. */
  #fold(record: Delivery, now: number): string | undefined {
    const { settings, logger } = this.#options;
    const startedAt = this.#traces?.now() ?? 0;
    try {
      const decoded = decodeMessage(record.payload);
      const message = this.#traces?.received(record, decoded) ?? decoded;
      if (message.kind === 'forgotten') {
        this.#forgetCluster(record, message);
        return undefined;
      }
      if (message.kind !== 'change' && message.kind !== 'outcome') throw new TypeError(`${message.kind} among changes`);
      if (formatServiceKey(message.key) !== record.key) {
        throw new TypeError(`${message.kind} for ${formatServiceKey(message.key)} under key ${record.key}`);
      }
      if (message.kind === 'outcome') this.#foldOutcome(record, message, now);
      else if (this.#views.has(record.key) || !this.#heard.knows(message)) {
        const view = this.#view(record.key);
        if (this.#heard.hear(message)) this.#miss(message, now);
        foldChange(view, message, now, settings);
        this.#compare(record.key, view, message, now);
      }
      this.#metrics.folded(message.kind);
      this.#traces?.folded(record, startedAt);
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error(isMessageError(error) ? 'message set aside' : 'message could not be folded', {
        key: record.key,
        id: record.id,
        position: record.position,
        reason,
        ...traceFields(traceOf(record.headers)),
      });
      this.#traces?.folded(record, startedAt, reason);
      return reason;
    }
  }

  /** What it said is asked for again. */
  async #setAside(record: Delivery, reason: string): Promise<void> {
    await this.#options.onDeadLetter?.(record, reason);
    // It was there, but nobody can say which Change it was.
    this.#heard.forget();
    if (!isServiceKey(record.key)) return;
    const id = `${this.#options.partition}/dead-letter/${record.position}/${record.id}`;
    await this.#options.bus.append('requests', 0, [resyncRequest({ key: parseServiceKey(record.key) }, reason, id)]);
  }

  #foldOutcome(record: Delivery, told: Outcome, now: number): void {
    const { settings, random } = this.#options;
    const view = this.#views.get(record.key);
    if (view === undefined) return;
    const { inFlight, counted } = view.controller(told.controller);
    const outcome = (inFlight && this.#traces?.settled(record, told, inFlight)) ?? told;
    const status = foldOutcome(view, outcome, now, settings, random);
    if (status === undefined || inFlight === null) return;
    const { groups, incomplete } = inFlight.message;
    this.#metrics.settled(record.key, outcome.controller, {
      outcome,
      status,
      groups,
      incomplete: incomplete.length > 0,
      counted,
    });
  }

  #tellDue(key: string, now: number): void {
    for (const controller of decisionOrder) {
      const dueAt = this.#views.get(key)?.controller(controller).dueAt ?? null;
      if (dueAt !== null && dueAt <= now) this.#metrics.due(key, controller);
    }
  }

  #decide(key: string, now: number): OutboxEntry[] {
    const { epoch, settings, logger } = this.#options;
    const view = this.#views.get(key);
    const plans: OutboxEntry[] = [];
    if (view === undefined) return plans;
    const nextPlan = (): PlanId => ({ epoch, number: this.#planNumbers.next() });
    for (const controller of decisionOrder) {
      const overdue = askAgain(view, controller, now);
      if (overdue !== undefined) {
        const { asked, trace } = view.controller(controller).inFlight ?? {};
        plans.push(outboxEntry(key, overdue, trace, asked));
      }
      if (!isDue(view, controller, now)) continue;
      this.#metrics.deciding(key, controller);
      const { causes } = view.controller(controller);
      const startedAt = this.#traces?.now() ?? 0;
      try {
        const decided = decide(view, controller, nextPlan, now, settings);
        const trace = this.#traces?.decided(view.key, controller, causes, startedAt, decided.plan);
        if (decided.plan !== undefined) {
          if (trace !== undefined) continueTrace(view, controller, trace);
          plans.push(outboxEntry(key, decided.plan, trace));
        }
        this.#metrics.decided(key, controller, decided);
      } catch (error) {
        // One Service that cannot be decided must not stop the others of its partition.
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        const trace = this.#traces?.decided(view.key, controller, causes, startedAt, undefined, reason);
        logger.error('no decision; parked until it changes', { key, controller, reason, ...traceFields(trace) });
        const state = view.controller(controller);
        const dueAt = settings.parkedRetryMs === null ? null : now + settings.parkedRetryMs;
        view.setController(controller, { ...state, dueAt, parked: reason, parkedSince: state.parkedSince ?? now });
        this.#metrics.decided(key, controller, undefined);
      }
    }
    for (const controller of decisionOrder) {
      this.#metrics.parked(key, controller, view.controller(controller).parked !== null);
    }
    this.#due.set(key, nextDue(view));
    return plans;
  }

  /** `origin`: of plans that a former owner may not have published. */
  async #publish(
    plans: readonly OutboxEntry[],
    origin?: (entry: OutboxEntry) => TraceParent | undefined,
  ): Promise<void> {
    const { bus, isCurrent } = this.#options;
    // They are in the outbox: the next owner publishes them, if they are still to be.
    if (isCurrent?.() === false) throw new FencedError('the lease has run out; nothing is published any more');
    const byPartition = Map.groupBy(plans, ({ key }) => partitionOf(key, bus.partitions));
    for (const [partition, entries] of byPartition) {
      const startedAt = this.#traces?.now() ?? 0;
      await bus.append('mutations', partition, entries);
      this.#traces?.published(partition, entries, startedAt, origin);
    }
    this.#published.push(...plans.map(({ id }) => id));
  }

  /** The Change that led to a plan. */
  #originOf({ key, headers }: OutboxEntry): TraceParent | undefined {
    const view = this.#views.get(key);
    const states = decisionOrder.map((controller) => view?.controller(controller).inFlight);
    return states.find((state) => state?.trace === traceOf(headers))?.message.causes.traces?.[0];
  }

  #view(key: string): ServiceView {
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new ServiceView(parseServiceKey(key));
      this.#views.set(key, view);
    }
    return view;
  }
}

/** When the Service is to be decided again if nothing comes in; null while that depends on what comes in. */
function nextDue(view: ServiceView): number | null {
  if (!view.snapshot.complete || view.snapshot.open !== null) return null;
  let next: number | null = null;
  for (const controller of decisionOrder) {
    const { dueAt, inFlight } = view.controller(controller);
    const at = inFlight === null ? dueAt : inFlight.askAt;
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}

function continueTrace(view: ServiceView, controller: Controller, trace: TraceParent): void {
  const state = view.controller(controller);
  if (state.inFlight !== null) view.setController(controller, { ...state, inFlight: { ...state.inFlight, trace } });
}

/** `again`: how often it was sent before. The bus would take it for the same record, and drop it, under the same id. */
function outboxEntry(key: string, plan: PlannedMutations, trace: TraceParent | undefined, again = 0): OutboxEntry {
  const name = `${key}/${plan.controller}/${plan.plan.epoch}/${plan.plan.number}`;
  const id = again === 0 ? name : `${name}/again/${again}`;
  return { id, key, headers: traceHeaders(trace), payload: encodeMessage(plan) };
}
