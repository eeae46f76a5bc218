import {
  type BusRecord,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type StreamOffset,
  streamStart,
} from '@sluice/bus';
import { isServiceKey, parseServiceKey, type TraceContext } from '@sluice/messages';
import type { ServiceState } from '@sluice/service-state';
import { decisionOrder, invalidate } from '@sluice/service-state';
import { FencedError } from '@sluice/store';
import { Doubts } from './doubts.ts';
import { noPartitionMetrics, type PartitionMetrics } from './metrics.ts';
import { PartitionState } from './partition-state.ts';
import { PartitionTraces } from './partition-traces.ts';
import { planRecord, unpublishedPlans } from './plan-record.ts';
import { RecordFolder } from './record-folder.ts';
import { resyncRequest } from './resync-request.ts';
import { ServiceDecider } from './service-decider.ts';
import { Unstored } from './unstored.ts';
import { WakeTimer } from './wake-timer.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

/** Records folded before one commit. Bounds its size; what is left is folded next. */
const recordsPerCommit = 256;

/**
 * Owns one partition: folds its records in order, decides for the Services they touched, commits the views, the
 * checkpoint and the plans in one step, and publishes the plans. A crash between any two steps is mended by starting
 * again from the store: what was committed is published (again), what was not is folded again. So a step that led to no
 * plan may wait for the commit of the next one that does.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  readonly #scope: string;
  readonly #metrics: PartitionMetrics;
  readonly #traces: PartitionTraces | undefined;
  readonly #state: PartitionState;
  readonly #doubts: Doubts;
  readonly #folder: RecordFolder;
  readonly #decider: ServiceDecider;
  /** Up to here all is stored. */
  #checkpoint: StreamOffset = streamStart;
  readonly #unstored: Unstored;

  constructor(options: PartitionWorkerOptions) {
    this.#options = options;
    this.#scope = `reconciler/${options.partition}`;
    this.#metrics = options.metrics?.open(options.partition) ?? noPartitionMetrics;
    this.#traces = options.tracer && new PartitionTraces({ ...options, tracer: options.tracer });
    this.#state = new PartitionState((key) => {
      this.#metrics.dropped(key);
      this.#doubts.drop(key);
    });
    this.#doubts = new Doubts(options, this.#metrics);
    const of = { ...options, state: this.#state, doubts: this.#doubts, metrics: this.#metrics, traces: this.#traces };
    this.#folder = new RecordFolder(of);
    this.#decider = new ServiceDecider(of);
    this.#unstored = new Unstored(options.commitDelayMs ?? 0, recordsPerCommit);
  }

  /** Once. Runs until `signal` aborts or the bus closes. Throws FencedError once somebody else owns the partition. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#restore();
      while (!(await this.#read(signal)));
    } finally {
      this.#metrics.close();
    }
  }

  /** Works until the end, true, or until the log is not what it was. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { bus, partition } = this.#options;
    try {
      const reader = bus.read('changes', partition, this.#checkpoint);
      await readUntilAborted(reader, signal, () => this.#work(reader, signal));
      return true;
    } catch (error) {
      if (!isLogTruncatedError(error)) throw error;
      await this.#startAfresh(error.message);
      return false;
    }
  }

  async #work(reader: PartitionReader, signal: AbortSignal): Promise<void> {
    const timer = new WakeTimer(this.#options.clock);
    try {
      let records: Promise<readonly Delivery[]> | undefined;
      while (!signal.aborted) {
        await this.#options.turns?.next();
        // Asked for as late as can be: the more there are by then, the fewer commits.
        records ??= reader.next(recordsPerCommit);
        // While a step is going on nobody waits for the next records; their failure is seen after it.
        records.catch(() => {});
        const batch = await Promise.race([records, timer.wake(this.#wakeAt())]);
        if (batch?.length === 0) break;
        if (batch !== undefined) records = undefined;
        await this.#step(batch ?? [], reader.streamId, signal);
        reader.release(this.#checkpoint.offset);
      }
      // The next owner need not fold it again.
      if (this.#unstored.dueAt !== undefined) await this.#store();
    } finally {
      timer.cancel();
    }
  }

  #wakeAt(): number | undefined {
    const times = [this.#state.due.next(), this.#unstored.dueAt, this.#doubts.dueAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async #restore(): Promise<void> {
    const { store, epoch, isNewEpoch = true, clock } = this.#options;
    const stored = await store.claim(this.#scope, epoch);
    if (!isNewEpoch && !(stored.checkpoint && stored.intact)) {
      // Numbers of plans may be among what was lost: under this epoch they would be given twice.
      throw new FencedError(`${this.#scope}: the store may have lost what was decided under epoch ${epoch}`);
    }
    this.#reach(stored.checkpoint ?? streamStart);
    this.#state.load(stored.entries);
    for (const [key, view] of this.#state.views) {
      this.#tellRestored(key, view);
      this.#doubts.hear(key, clock.now());
    }
    if (stored.checkpoint !== null && stored.intact) {
      return this.#publishAgain();
    }
    await this.#startAfresh(
      stored.checkpoint === null ? 'the store knows nothing of it' : 'the store may have lost commits',
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
    for (const view of this.#state.views.values()) invalidate(view, clock.now());
    await bus.append('requests', 0, [resyncRequest({ partition }, reason, `${partition}/${epoch}/${clock.now()}`)]);
    this.#unstored.take();
    await this.#commit(end, this.#state.views.keys());
  }

  #tellRestored(key: string, view: ServiceState): void {
    for (const controller of decisionOrder) {
      const { counted, inFlight, parked } = view.controller(controller);
      this.#metrics.restored(key, controller, { counted, deciding: inFlight !== null, parked: parked !== null });
    }
  }

  async #step(batch: readonly Delivery[], streamId: string, signal: AbortSignal): Promise<void> {
    const now = this.#options.clock.now();
    const touched = new Set<string>();
    for (const record of batch) {
      const reason = this.#folder.fold(record, now);
      if (reason !== undefined) await this.#setAside(record, reason);
      touched.add(record.key);
    }
    for (const key of await this.#doubts.settle(signal)) touched.add(key);
    for (const key of this.#state.due.take(now)) touched.add(key);
    for (const key of touched) this.#decider.tellDue(key, now);
    const plans: BusRecord[] = [];
    for (const key of touched) plans.push(...this.#decider.decide(key, now));
    const last = batch.at(-1);
    this.#unstored.add(touched, last && { offset: last.offset, id: last.id, streamId }, batch.length, now);
    // A plan may be published only when it is stored.
    if (plans.length > 0 || this.#unstored.isDue(now)) await this.#store();
    await this.#publish(plans);
  }

  /** Commits what was folded and decided. */
  async #store(): Promise<void> {
    const { keys, cursor } = this.#unstored.take();
    await this.#commit(cursor ?? this.#checkpoint, keys);
  }

  async #commit(checkpoint: StreamOffset, touched: Iterable<string>): Promise<void> {
    const { store, epoch: fencingToken } = this.#options;
    const entries = this.#state.takeChanges(touched);
    if (checkpoint === this.#checkpoint && entries.length === 0) return;
    const expectedOffset = this.#checkpoint.offset;
    const startedAt = this.#traces?.now() ?? 0;
    await store.commit({ scope: this.#scope, fencingToken, expectedOffset, checkpoint, entries });
    this.#traces?.committed(startedAt);
    this.#reach(checkpoint);
  }

  #reach(checkpoint: StreamOffset): void {
    this.#checkpoint = checkpoint;
    this.#options.onCheckpoint?.(checkpoint.offset, this.#options.partition);
  }

  /** What it said is asked for again. */
  async #setAside(record: Delivery, reason: string): Promise<void> {
    await this.#options.onDeadLetter?.(record, reason);
    // It was there, but nobody can say which Change it was.
    this.#state.heard.forget();
    if (!isServiceKey(record.key)) return;
    const id = `${this.#options.partition}/dead-letter/${record.offset}/${record.id}`;
    await this.#options.bus.append('requests', 0, [resyncRequest({ key: parseServiceKey(record.key) }, reason, id)]);
  }

  /** What a former owner committed, and may have died before it published it. */
  async #publishAgain(): Promise<void> {
    const plans = unpublishedPlans(this.#state).map(({ key, plan }) => ({ plan, record: planRecord(key, plan) }));
    // Their trace is that of the Change that led to them.
    const origins = new Map(plans.map(({ plan, record }) => [record.id, plan.message.causes.traces?.[0]]));
    await this.#publish(
      plans.map(({ record }) => record),
      origins,
    );
  }

  async #publish(plans: readonly BusRecord[], origins?: ReadonlyMap<string, TraceContext | undefined>): Promise<void> {
    const { bus, partition, isCurrent } = this.#options;
    // They are in the store: the next owner publishes them, if they are still to be.
    if (isCurrent?.() === false) throw new FencedError('the lease has run out; nothing is published any more');
    if (plans.length > 0) {
      const startedAt = this.#traces?.now() ?? 0;
      await bus.append('mutations', partition, plans);
      this.#traces?.published(plans, startedAt, origins);
    }
    this.#state.planNumbers.publishedAll();
  }
}
