import {
  type BusRecord,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
  type StreamOffset,
} from '@sluice/bus';
import { decisionOrder } from '@sluice/controllers';
import { isServiceKey, parseServiceKey, type TraceContext } from '@sluice/messages';
import { elapsedMs, instant } from '@sluice/platform';
import { evolve, type ServiceState, storedFormVersion } from '@sluice/service-state';
import { FencedError, type InheritedScope, OwnedScope } from '@sluice/store';
import type { PartitionMetrics } from './metrics.ts';
import { PartitionState } from './partition-state.ts';
import { PartitionTraces } from './partition-traces.ts';
import { PendingCommit } from './pending-commit.ts';
import { RecordProcessor } from './record-processor.ts';
import { RecordWaiter } from './record-waiter.ts';
import { ResyncRequester, resyncRequest } from './resync-requester.ts';
import { ServiceDecider, unpublishedPlans } from './service-decider.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

/** Differences between the clocks up to this are not taken for a change of the system clock, in milliseconds. */
const maxClockErrorMs = 500;
/** Maximum records per commit; the rest follows in the next one. */
const recordsPerCommit = 256;
/** Longer than a plan waits for the log, and shorter than a lease, so that a frozen process exceeds it; in milliseconds. */
const maxLingerMs = 500;

/**
 * Owns one partition: applies its records in order, decides for the Services in the work set, commits their states, the
 * checkpoint and the plans in one step, and publishes the plans. After a crash between any two steps, the next worker
 * starts from the store: it publishes committed plans (again) and applies uncommitted records (again). A step without a
 * plan may therefore wait for the commit of the next one that has one.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  readonly #scope: OwnedScope;
  readonly #metrics: PartitionMetrics | undefined;
  readonly #traces: PartitionTraces | undefined;
  readonly #state: PartitionState;
  readonly #resyncs: ResyncRequester;
  readonly #processor: RecordProcessor;
  readonly #decider: ServiceDecider;
  /** Everything up to this offset is stored. */
  readonly #pending: PendingCommit;
  /** Resolves when the plans published so far are in the log. */
  #published: Promise<void> = Promise.resolve();
  /** Number of publications that are not in the log yet. */
  #publishing = 0;
  #waiter: RecordWaiter | undefined;
  #lastTime: { readonly now: number; readonly monotonic: number };

  constructor(options: PartitionWorkerOptions) {
    this.#options = options;
    const { store, partition, fencingToken } = options;
    const scope = `reconciler/${partition}`;
    this.#scope = new OwnedScope({ store, scope, fencingToken, formatVersion: storedFormVersion });
    this.#metrics = options.metrics?.open(options.partition);
    this.#traces = options.tracer && new PartitionTraces({ ...options, tracer: options.tracer });
    this.#state = new PartitionState(options, (key) => {
      this.#metrics?.dropped(key);
      this.#resyncs.remove(key);
    });
    this.#resyncs = new ResyncRequester(options, this.#metrics, this.#state.pendingResyncs);
    const parts = {
      ...options,
      state: this.#state,
      resyncs: this.#resyncs,
      metrics: this.#metrics,
      traces: this.#traces,
    };
    this.#processor = new RecordProcessor(parts);
    this.#decider = new ServiceDecider(parts);
    this.#lastTime = { now: options.clock.now(), monotonic: options.clock.monotonic() };
    this.#pending = new PendingCommit(options.clock, options.commitIntervalMs ?? 0, recordsPerCommit);
  }

  /**
   * Runs once, until `signal` aborts or the bus closes.
   *
   * @throws FencedError once another worker owns the partition
   */
  async run(signal: AbortSignal): Promise<void> {
    const { bus, partition } = this.#options;
    let stopProducing = () => {};
    try {
      const stored = await this.#scope.claim();
      // A former owner can no longer commit a plan, and what it committed is published again.
      stopProducing = bus.produceExclusively?.('mutations', partition) ?? stopProducing;
      await this.#restore(stored);
      while (!(await this.#read(signal)));
    } finally {
      stopProducing();
      this.#metrics?.close();
    }
  }

  /** Returns true at the end, false if the log was truncated and has to be read from its end. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { bus, partition, logger, isCurrent } = this.#options;
    try {
      const reader = bus.read('changes', partition, this.#checkpoint);
      await readUntilAborted(reader, signal, () => this.#work(reader, signal));
      return true;
    } catch (error) {
      if (!isLogTruncatedError(error)) throw error;
      // Another worker has released the records; a resync would be for nothing.
      if (isCurrent?.() === false) throw new FencedError('lease expired; not resyncing');
      // Reachable: resync of a partition whose log was truncated
      logger.warn('log truncated; resyncing partition', { error: error.message });
      await this.#resyncPartition('log truncated');
      return false;
    }
  }

  async #work(reader: PartitionReader, signal: AbortSignal): Promise<void> {
    const waiter = new RecordWaiter(this.#options.clock, () => reader.next(recordsPerCommit));
    this.#waiter = waiter;
    this.#published.catch((error: unknown) => waiter.fail(error));
    while (!signal.aborted) {
      await this.#options.yieldQueue?.next();
      // As late as possible: the more records there are, the fewer commits.
      const batch = await waiter.next(this.#wakeAfterMs());
      if (batch?.length === 0) break;
      await this.#step(batch ?? [], reader.streamId);
      reader.release(this.#checkpoint.offset);
    }
    await this.#published;
    // Saves the next owner from applying and publishing it again.
    await this.#commitPending();
  }

  /**
   * The time. If the system clock was set back, deadlines are corrected; otherwise every Service that waits for one would wait
   * for as much longer.
   */
  #now(): number {
    const { clock, settings, logger } = this.#options;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const setBackMs = this.#lastTime.now + (monotonic - this.#lastTime.monotonic) - now;
    this.#lastTime = { now, monotonic };
    if (setBackMs > maxClockErrorMs) {
      // Reachable: system clock set back
      logger.warn('system clock was set back; correcting deadlines', { setBackMs: Math.round(setBackMs) });
      this.#state.evolveAll({ kind: 'clockChanged' }, now, settings);
      this.#pending.clampDeadline(now);
    }
    return now;
  }

  /**
   * Time until the next deadline, on the clock by which the last step set it: if the system clock is set back during a commit,
   * the next step must correct the deadlines soon.
   */
  #wakeAfterMs(): number | undefined {
    const times = [this.#state.queue.next(), this.#pending.deadline, this.#resyncs.dueAt].filter(
      (at) => at !== undefined,
    );
    if (times.length === 0) return undefined;
    const { now, monotonic } = this.#lastTime;
    return Math.min(...times) - now - (this.#options.clock.monotonic() - monotonic);
  }

  async #restore({ isNew, intact, entries, isReadable }: InheritedScope): Promise<void> {
    const { fencingToken, isFirstRun = true, clock, logger } = this.#options;
    if (!isFirstRun && (isNew || !intact)) {
      // Reachable: fencing token discarded because its plans may be lost
      // Plan numbers may be lost; under this token they would be used twice.
      throw new FencedError(`${this.#scope.name}: the store may have lost plans of fencing token ${fencingToken}`);
    }
    this.#report();
    const onUnreadable = (key: string, reason: string) => {
      // Reachable: stored state of a Service unreadable
      logger.error('stored state unreadable; resyncing service', { key, reason });
    };
    const isLoaded = isReadable && this.#state.load(entries, onUnreadable);
    if (!isLoaded) this.#scope.discard();
    if (!isLoaded && !isFirstRun)
      throw new FencedError(`${this.#scope.name}: the numbers of published plans are unreadable`);
    this.#state.evolveAll({ kind: 'clockChanged' }, clock.now(), this.#options.settings);
    for (const [key, state] of this.#state.services) {
      this.#reportRestored(key, state);
      this.#resyncs.observe(key, clock.now());
    }
    if (isNew) {
      logger.debug('no committed offset; resyncing partition');
      return this.#resyncPartition('no committed offset');
    }
    if (!intact) {
      // Reachable: store may have lost commits of a reconciler
      logger.warn('store may have lost commits; resyncing partition');
      return this.#resyncPartition('store may have lost commits');
    }
    if (!isLoaded) {
      // Reachable: stored partition unreadable
      logger.warn('stored state unreadable; resyncing partition', { formatVersion: storedFormVersion });
      return this.#resyncPartition('stored state unreadable');
    }
    await this.#publishUnpublished();
  }

  /**
   * Messages or commits were lost: continues at the end of the log and decides nothing for a Service before a new snapshot
   * of it.
   */
  async #resyncPartition(reason: string): Promise<void> {
    const { bus, partition, fencingToken, clock } = this.#options;
    const end = await bus.end('changes', partition);
    this.#state.evolveAll({ kind: 'messagesLost' }, clock.now(), this.#options.settings);
    const id = `${partition}/${fencingToken}/${clock.now()}`;
    await bus.append('requests', 0, [resyncRequest({ partition }, reason, id)]);
    this.#pending.drain();
    await this.#commit(end, this.#state.services.keys());
  }

  #reportRestored(key: string, state: ServiceState): void {
    for (const controller of decisionOrder) {
      const { inFlight, retries, trackers } = state.controller(controller);
      const [deciding, parked] = [inFlight !== null, retries.parked !== null];
      this.#metrics?.restored(key, controller, { counted: trackers.counted, deciding, parked });
    }
  }

  async #step(batch: readonly Delivery[], streamId: string): Promise<void> {
    const now = this.#now();
    const workSet = new Set<string>();
    for (const record of batch) {
      if (record.isRepeated) continue;
      const reason = this.#processor.process(record, now);
      if (reason !== undefined) await this.#deadLetter(record, reason);
      workSet.add(record.key);
    }
    for (const key of await this.#resyncs.publishRequests()) workSet.add(key);
    for (const key of this.#state.queue.take(now)) workSet.add(key);
    for (const key of workSet) this.#decider.countQueued(key, now);
    const plans: BusRecord[] = [];
    for (const key of workSet) plans.push(...this.#decider.decide(key, now));
    const last = batch.findLast(({ isEarly }) => !isEarly);
    this.#pending.add(workSet, last && { offset: last.offset, id: last.id, streamId }, batch.length, now);
    const { isVolatile = false } = this.#options;
    if (isVolatile) this.#traces?.flush();
    // A plan is published only after it is stored.
    if ((plans.length > 0 && !isVolatile) || this.#pending.isDue(now)) await this.#commitPending();
    await this.#publish(plans);
  }

  async #commitPending(): Promise<void> {
    // The store keeps a plan while it is in flight. Before it forgets one, the log must have it.
    if (this.#publishing > 0) this.#options.bus.flush?.(this.#options.partition);
    await this.#published;
    const { keys, offset } = this.#pending.drain();
    await this.#commit(offset ?? this.#checkpoint, keys);
  }

  async #commit(checkpoint: StreamOffset, keys: Iterable<string>): Promise<void> {
    const entries = this.#state.drainChanges(keys);
    if (checkpoint === this.#checkpoint && entries.length === 0) return;
    const startedAt = this.#traces?.now() ?? 0;
    await this.#scope.commit(checkpoint, entries);
    this.#traces?.committed(startedAt);
    this.#report();
  }

  get #checkpoint(): StreamOffset {
    return this.#scope.checkpoint;
  }

  #report(): void {
    this.#options.onCheckpoint?.(this.#checkpoint.offset, this.#options.partition);
  }

  /** Keeps a record that cannot be applied and requests a resync of its Service. */
  async #deadLetter(record: Delivery, reason: string): Promise<void> {
    // Reachable: record dead-lettered by a reconciler
    const { onDeadLetter, clock, settings } = this.#options;
    await onDeadLetter?.(record, reason);
    if (!isServiceKey(record.key)) return;
    this.#state.gaps.skip(parseServiceKey(record.key).cluster);
    const state = this.#state.services.get(record.key);
    if (state !== undefined) evolve(state, { kind: 'snapshotAborted' }, clock.now(), settings);
    this.#resyncs.reportUnreadable(record.key, reason);
  }

  /** Publishes plans that a former owner committed and may not have published. */
  async #publishUnpublished(): Promise<void> {
    const now = this.#options.clock.now();
    const plans = unpublishedPlans(this.#state).flatMap(({ key, state, plan }) => {
      // Reachable: committed plan published by the next owner
      const record = this.#decider.publishable(key, state, plan.message.controller, now);
      return record === undefined ? [] : { plan, record };
    });
    // They continue the trace of the Change that caused them.
    const origins = new Map(plans.map(({ plan, record }) => [record.id, plan.message.causes.traces?.[0]]));
    await this.#publish(
      plans.map(({ record }) => record),
      origins,
    );
  }

  async #publish(plans: readonly BusRecord[], origins?: ReadonlyMap<string, TraceContext | undefined>): Promise<void> {
    const { bus, partition, isCurrent } = this.#options;
    const assertCurrent = () => {
      if (isCurrent?.() !== false) return;
      // Reachable: lease expired before plans were published
      // The plans are in the store, so the next owner publishes them.
      throw new FencedError('lease expired; not publishing');
    };
    assertCurrent();
    const { planNumbers } = this.#state;
    const { last } = planNumbers;
    // The number is stored with a commit, which waits until all plans are in the log.
    if (plans.length === 0) return planNumbers.markPublished(last);
    const startedAt = this.#traces?.now() ?? 0;
    const delivered = bus.deliver?.('mutations', partition, plans, this.#lingering(assertCurrent));
    this.#publishing += 1;
    const stored = Promise.all([this.#published, delivered ?? bus.append('mutations', partition, plans)]);
    this.#published = stored.then(() => {
      this.#publishing -= 1;
      planNumbers.markPublished(last);
    });
    // A failure during a step is handled after it.
    this.#published.catch((error: unknown) => this.#waiter?.fail(error));
    if (delivered === undefined) await this.#published;
    this.#traces?.published(plans, startedAt, origins);
  }

  /**
   * The writer may have applied plans that wait for the log. A store that has lost the lease has lost them too, so they get into the
   * log unless so much time has passed that a next owner may have published them.
   */
  #lingering(assertCurrent: () => void): () => void {
    const { clock } = this.#options;
    const delivered = instant(clock);
    return () => {
      if (elapsedMs(clock, delivered) > maxLingerMs) assertCurrent();
    };
  }
}
