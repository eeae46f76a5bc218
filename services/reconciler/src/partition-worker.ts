import { type Bus, type Cursor, type Delivery, origin } from '@sluice/bus';
import {
  decodeMessage,
  encodeMessage,
  formatServiceKey,
  isMessageError,
  type Outcome,
  type PlannedMutations,
  parseServiceKey,
  partitionOf,
} from '@sluice/messages';
import type { Cancel, Clock, Logger, Random } from '@sluice/runtime';
import type { OutboxEntry, Store } from '@sluice/store';
import { decide, decisionOrder, isDue } from './decide.ts';
import { DueQueue } from './due-queue.ts';
import { foldChange } from './fold-change.ts';
import { foldOutcome } from './fold-outcome.ts';
import { noPartitionMetrics, type PartitionMetrics, type ReconcilerMetrics } from './metrics.ts';
import { ServiceView } from './service-view.ts';
import type { Settings } from './settings.ts';

export interface PartitionWorkerOptions {
  readonly partition: number;
  /** Of the lease under which this worker owns the partition. */
  readonly epoch: number;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Settings;
  /** Default: nobody counts. */
  readonly metrics?: ReconcilerMetrics;
  /** Called for each record that was set aside. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => void;
}

/** Records folded before one commit. Bounds its size; what is left is folded next. */
const recordsPerCommit = 256;

/**
 * Owns one partition: folds its records in order, decides for the Services they touched, commits the views, the
 * checkpoint and the plans in one step, and publishes the plans. A crash between any two steps is mended by starting
 * again from the store: what was committed is published (again), what was not is folded again.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  readonly #scope: string;
  readonly #views = new Map<string, ServiceView>();
  /** When Services have something to decide though nothing comes in, by formatted key. */
  readonly #due = new DueQueue();
  #checkpoint: Cursor = origin;
  #published: string[] = [];
  #metrics: PartitionMetrics = noPartitionMetrics;

  constructor(options: PartitionWorkerOptions) {
    this.#options = options;
    this.#scope = `reconciler/${options.partition}`;
  }

  /** Runs until `signal` aborts or the bus closes. Throws FencedError once somebody else owns the partition. */
  async run(signal: AbortSignal): Promise<void> {
    const { metrics, partition } = this.#options;
    this.#metrics = metrics?.open(partition) ?? noPartitionMetrics;
    try {
      await this.#work(signal);
    } finally {
      this.#metrics.close();
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { bus, partition } = this.#options;
    await this.#restore();
    const reader = bus.read('changes', partition, this.#checkpoint);
    const close = () => reader.close();
    signal.addEventListener('abort', close, { once: true });
    const timer = new WakeTimer(this.#options.clock);
    try {
      let records = reader.next(recordsPerCommit);
      while (!signal.aborted) {
        const batch = await Promise.race([records, timer.wake(this.#due.next())]);
        if (batch !== undefined) {
          if (batch.length === 0) return;
          records = reader.next(recordsPerCommit);
        }
        await this.#step(batch ?? [], reader.log);
        reader.release(this.#checkpoint.position);
      }
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', close);
      reader.close();
    }
  }

  async #restore(): Promise<void> {
    const { store, epoch } = this.#options;
    const state = await store.claim(this.#scope, epoch);
    this.#checkpoint = state.checkpoint ?? origin;
    for (const entry of state.entries) {
      this.#view(entry.key).load(entry);
      this.#due.set(entry.key, 0);
    }
    for (const [key, view] of this.#views) this.#tellRestored(key, view);
    await this.#publish(state.outbox);
  }

  #tellRestored(key: string, view: ServiceView): void {
    for (const controller of decisionOrder) {
      const { counted, inFlight, parked } = view.controller(controller);
      this.#metrics.restored(key, controller, { counted, deciding: inFlight !== null, parked: parked !== null });
    }
  }

  async #step(batch: readonly Delivery[], log: string): Promise<void> {
    const { clock, store, epoch } = this.#options;
    const now = clock.now();
    const touched = new Set<string>();
    for (const record of batch) {
      if (this.#fold(record, now)) touched.add(record.key);
    }
    for (const key of this.#due.take(now)) touched.add(key);
    for (const key of touched) this.#tellDue(key, now);
    const plans: OutboxEntry[] = [];
    for (const key of touched) plans.push(...this.#decide(key, now));
    const entries = [...touched].flatMap((key) => this.#views.get(key)?.takeChanges(key) ?? []);
    const last = batch.at(-1);
    if (last === undefined && entries.length === 0) return;
    const checkpoint = last === undefined ? this.#checkpoint : { position: last.position, id: last.id, log };
    const published = this.#published;
    this.#published = [];
    const expected = this.#checkpoint.position;
    await store.commit({ scope: this.#scope, epoch, expected, checkpoint, entries, publish: plans, published });
    this.#checkpoint = checkpoint;
    await this.#publish(plans);
  }

  /** True if the record was folded into the view of its key. */
  #fold(record: Delivery, now: number): boolean {
    const { settings, logger, onDeadLetter } = this.#options;
    try {
      const message = decodeMessage(record.payload);
      if (message.kind === 'mutations' || formatServiceKey(message.key) !== record.key) {
        throw new TypeError(`${message.kind} for ${formatServiceKey(message.key)} under key ${record.key}`);
      }
      const view = this.#view(record.key);
      if (message.kind === 'change') foldChange(view, message, now, settings);
      else this.#foldOutcome(record.key, view, message, now);
      this.#metrics.folded(message.kind);
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error(isMessageError(error) ? 'message set aside' : 'message could not be folded', {
        key: record.key,
        id: record.id,
        position: record.position,
        reason,
      });
      onDeadLetter?.(record, reason);
      return this.#views.has(record.key);
    }
  }

  #foldOutcome(key: string, view: ServiceView, outcome: Outcome, now: number): void {
    const { settings, random } = this.#options;
    const { inFlight, counted } = view.controller(outcome.controller);
    const status = foldOutcome(view, outcome, now, settings, random);
    if (status === undefined || inFlight === null) return;
    const { groups, incomplete } = inFlight;
    this.#metrics.settled(key, outcome.controller, { outcome, status, groups, incomplete, counted });
  }

  #tellDue(key: string, now: number): void {
    for (const controller of decisionOrder) {
      const { dueAt } = this.#view(key).controller(controller);
      if (dueAt !== null && dueAt <= now) this.#metrics.due(key, controller);
    }
  }

  #decide(key: string, now: number): OutboxEntry[] {
    const { epoch, settings, logger } = this.#options;
    const view = this.#view(key);
    const plans: OutboxEntry[] = [];
    for (const controller of decisionOrder) {
      if (!isDue(view, controller, now)) continue;
      this.#metrics.deciding(key, controller);
      try {
        const decided = decide(view, controller, epoch, now, settings);
        if (decided.plan !== undefined) plans.push(outboxEntry(key, decided.plan));
        this.#metrics.decided(key, controller, decided);
      } catch (error) {
        // One Service that cannot be decided must not stop the others of its partition.
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        logger.error('no decision; parked until it changes', { key, controller, reason });
        const state = view.controller(controller);
        const dueAt = settings.parkedRetryMs === null ? null : now + settings.parkedRetryMs;
        view.setController(controller, { ...state, dueAt, parked: reason });
        this.#metrics.decided(key, controller, undefined);
      }
    }
    for (const controller of decisionOrder) {
      this.#metrics.parked(key, controller, view.controller(controller).parked !== null);
    }
    this.#due.set(key, nextDue(view));
    return plans;
  }

  async #publish(plans: readonly OutboxEntry[]): Promise<void> {
    const { bus } = this.#options;
    const byPartition = Map.groupBy(plans, ({ key }) => partitionOf(key, bus.partitions));
    for (const [partition, entries] of byPartition) await bus.append('mutations', partition, entries);
    this.#published.push(...plans.map(({ id }) => id));
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
    if (dueAt !== null && inFlight === null && (next === null || dueAt < next)) next = dueAt;
  }
  return next;
}

function outboxEntry(key: string, plan: PlannedMutations): OutboxEntry {
  const id = `${key}/${plan.controller}/${plan.plan.epoch}/${plan.plan.number}`;
  return { id, key, headers: {}, payload: encodeMessage(plan) };
}

/** One timer that is set anew for each wait. */
class WakeTimer {
  readonly #clock: Clock;
  #cancel: Cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with undefined at the given time; never, if there is none. */
  wake(at: number | undefined): Promise<undefined> {
    this.#cancel();
    return new Promise((resolve) => {
      if (at === undefined) return;
      this.#cancel = this.#clock.schedule(Math.max(0, at - this.#clock.now()), () => resolve(undefined));
    });
  }

  cancel(): void {
    this.#cancel();
  }
}
