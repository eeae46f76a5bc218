import { decisionOrder } from '@sluice/controllers';
import { isServiceKey, parseServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { type Clock, errorMessage, type Random } from '@sluice/platform';
import {
  evolve,
  initialState,
  isDisposable,
  loadState,
  readyAsWritten,
  type ServiceEvent,
  type ServiceState,
  type Settings,
} from '@sluice/service-state';
import type { StoredEntry } from '@sluice/store';
import { DelayingQueue } from './delaying-queue.ts';
import { GapDetector } from './gap-detector.ts';
import { PendingResyncs } from './pending-resyncs.ts';

/** Everything known about one partition. Changes are stored with the next commit. */
export class PartitionState {
  readonly gaps = new GapDetector();
  readonly planNumbers = new PlanNumbers();
  readonly ready = new ReadyEndpoints();
  readonly pendingResyncs: PendingResyncs;
  /** When Services are due although no message arrives, by formatted key. */
  readonly queue = new DelayingQueue();
  readonly #services = new Map<string, ServiceState>();
  /** Removals of stored entries whose state was dropped or discarded. */
  readonly #removals: StoredEntry[] = [];
  readonly #clock: Clock;
  readonly #onDropped: (key: string) => void;

  /** `onDropped` is called with the formatted key of each state that is dropped. */
  constructor(ports: { readonly clock: Clock; readonly random: Random }, onDropped: (key: string) => void) {
    this.#clock = ports.clock;
    this.pendingResyncs = new PendingResyncs(ports);
    this.#onDropped = onDropped;
  }

  /** By formatted key. */
  get services(): ReadonlyMap<string, ServiceState> {
    return this.#services;
  }

  /** The state of a Service; the initial one if nothing is known. */
  service(key: string): ServiceState {
    let state = this.#services.get(key);
    if (state === undefined) {
      state = initialState(parseServiceKey(key));
      this.#services.set(key, state);
    }
    return state;
  }

  /**
   * Loads what is stored. Any of it may be due. A Service whose state is unreadable is discarded, and a resync of it is
   * pending; `onUnreadable` is called with its formatted key. Returns false if the whole partition is unreadable: then
   * nothing is loaded.
   */
  load(entries: readonly StoredEntry[], onUnreadable: (key: string, reason: string) => void): boolean {
    const byKey = new Map<string, StoredEntry[]>();
    try {
      for (const entry of entries) {
        if (this.gaps.load(entry) || this.planNumbers.load(entry) || this.pendingResyncs.load(entry)) continue;
        if (!isServiceKey(entry.key)) return this.#discard();
        const fields = byKey.get(entry.key);
        if (fields === undefined) byKey.set(entry.key, [entry]);
        else fields.push(entry);
      }
    } catch {
      return this.#discard();
    }
    for (const [key, fields] of byKey) {
      try {
        const state = loadState(key, fields);
        this.#services.set(key, state);
        this.queue.set(key, 0);
        this.#countReady(key, state);
      } catch (error) {
        this.#remove(fields);
        this.pendingResyncs.add(key, 'stored state unreadable');
        onUnreadable(key, errorMessage(error));
      }
    }
    return true;
  }

  /** Applies an event to the states of all Services. */
  evolveAll(event: ServiceEvent, now: number, settings: Settings): void {
    for (const [key, state] of this.#services) {
      evolve(state, event, now, settings);
      // Any of it may be due.
      this.queue.set(key, 0);
    }
  }

  /** Drops all states of a removed cluster. If it is served after all, its next Change shows a gap. */
  removeCluster(cluster: string): void {
    for (const [key, state] of this.#services) {
      if (state.key.cluster === cluster) this.#drop(key, state);
    }
    this.gaps.removeCluster(cluster);
    this.pendingResyncs.remove((key) => isServiceKey(key) && parseServiceKey(key).cluster === cluster);
  }

  /** Returns and clears the changed entries of these Services, of dropped states and of the partition, to be committed. */
  drainChanges(keys: Iterable<string>): StoredEntry[] {
    const changed: StoredEntry[] = [];
    const now = this.#clock.now();
    for (const key of keys) {
      const state = this.#services.get(key);
      if (state === undefined) continue;
      if (isDisposable(state, now)) this.#drop(key, state);
      else for (const entry of state.drainStoredFields(key)) changed.push(entry);
    }
    // Removals come first: a dropped Service may have come back.
    const removals = this.#removals.splice(0);
    return [
      ...removals,
      ...changed,
      ...this.gaps.drainChanges(),
      ...this.planNumbers.drainChanges(),
      ...this.pendingResyncs.drainChanges(),
    ];
  }

  /** As the last decision counted them. */
  #countReady(key: string, state: ServiceState): void {
    for (const controller of decisionOrder) {
      const { inFlight } = state.controller(controller);
      const ready = readyAsWritten(state, controller) + (inFlight?.message.ready?.delta ?? 0);
      this.ready.set(key, state.key.cluster, controller, ready);
    }
  }

  /** Returns false. */
  #discard(): false {
    this.gaps.clear();
    this.planNumbers.clear();
    this.pendingResyncs.remove(() => true);
    return false;
  }

  #remove(entries: readonly StoredEntry[]): void {
    for (const { key, field } of entries) this.#removals.push({ key, field, value: undefined });
  }

  #drop(key: string, state: ServiceState): void {
    state.clear();
    this.#removals.push(...state.drainStoredFields(key));
    this.#services.delete(key);
    this.queue.set(key, null);
    this.ready.remove(key, state.key.cluster);
    this.#onDropped(key);
  }
}

type Counts = Map<Controller, number>;

/** Ready endpoints as written, of all Services of a partition by formatted key, with a sum per cluster and controller. */
export class ReadyEndpoints {
  readonly #services = new Map<string, Counts>();
  readonly #totals = new Map<string, Counts>();

  has(key: string, controller: Controller): boolean {
    return this.#services.get(key)?.has(controller) ?? false;
  }

  set(key: string, cluster: string, controller: Controller, ready: number): void {
    const service = countsOf(this.#services, key);
    add(countsOf(this.#totals, cluster), controller, ready - (service.get(controller) ?? 0));
    service.set(controller, ready);
  }

  /** The sum over all other Services of the cluster. */
  elsewhere(key: string, cluster: string, controller: Controller): number {
    const own = this.#services.get(key)?.get(controller) ?? 0;
    return (this.#totals.get(cluster)?.get(controller) ?? 0) - own;
  }

  remove(key: string, cluster: string): void {
    const totals = countsOf(this.#totals, cluster);
    for (const [controller, ready] of this.#services.get(key) ?? []) add(totals, controller, -ready);
    this.#services.delete(key);
  }
}

function countsOf(counts: Map<string, Counts>, name: string): Counts {
  let known = counts.get(name);
  if (known === undefined) {
    known = new Map();
    counts.set(name, known);
  }
  return known;
}

function add(counts: Counts, controller: Controller, ready: number): void {
  counts.set(controller, (counts.get(controller) ?? 0) + ready);
}

const numbersKey = 'partition';

/**
 * Numbers the plans of a partition, across all its Services. A Service's state can therefore be dropped without a number
 * being used twice, and a later decision always has a higher number, so a writer need not remember old plans. Plans are
 * published in this order, so one number shows which of them are on the bus.
 */
export class PlanNumbers {
  #last = new StoredNumber('lastPlan');
  #published = new StoredNumber('publishedPlan');

  /** The number of the next plan. */
  get next(): number {
    return this.#last.value + 1;
  }

  /** The next number has been used. */
  advance(): void {
    this.#last.value += 1;
  }

  /** The number of the last plan. */
  get last(): number {
    return this.#last.value;
  }

  /** All plans up to this number are on the bus or need not be. */
  markPublished(upTo: number): void {
    this.#published.value = upTo;
  }

  /** Whether the plan with this number is certainly on the bus. */
  isPublished(number: number): boolean {
    return number <= this.#published.value;
  }

  /** Removes everything that was loaded. */
  clear(): void {
    this.#last = new StoredNumber('lastPlan');
    this.#published = new StoredNumber('publishedPlan');
  }

  /** Loads a stored entry; false if it is not one of these numbers. Throws TypeError if its value is invalid. */
  load(entry: StoredEntry): boolean {
    return entry.key === numbersKey && (this.#last.load(entry) || this.#published.load(entry));
  }

  /** Returns and clears the changed entries, to be committed. */
  drainChanges(): StoredEntry[] {
    return [...this.#last.drainChange(), ...this.#published.drainChange()];
  }
}

class StoredNumber {
  value = 0;
  readonly #field: string;
  #stored = 0;

  constructor(field: string) {
    this.#field = field;
  }

  load({ field, value }: StoredEntry): boolean {
    if (field !== this.#field) return false;
    if (!Number.isInteger(value)) throw new TypeError(`stored field ${field} is invalid`);
    this.value = this.#stored = Number(value);
    return true;
  }

  drainChange(): StoredEntry[] {
    if (this.value === this.#stored) return [];
    this.#stored = this.value;
    return [{ key: numbersKey, field: this.#field, value: this.value }];
  }
}
