import { isServiceKey, parseServiceKey } from '@sluice/messages';
import type { Clock, Random } from '@sluice/runtime';
import { initialState, isDisposable, joinParts, type ServiceState, storedFormVersion } from '@sluice/service-state';
import type { StoredEntry } from '@sluice/store';
import { DelayingQueue } from './delaying-queue.ts';
import { GapDetector } from './gap-detector.ts';
import { PendingResyncs } from './pending-resyncs.ts';
import { PlanNumbers } from './plan-numbers.ts';
import { ReadyEndpoints } from './ready-endpoints.ts';

const formEntry = { key: 'partition', field: 'storedForm', value: storedFormVersion };

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
  readonly #onDropped: (key: string) => void;
  #isFormStored = false;

  /** `onDropped` is called with the formatted key of each state that is dropped. */
  constructor(ports: { readonly clock: Clock; readonly random: Random }, onDropped: (key: string) => void) {
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
   * Loads what is stored. Any of it may be due. Returns false if a program with another stored form has written it: then
   * nothing is loaded, and the next commit removes it.
   */
  load(entries: readonly StoredEntry[]): boolean {
    const form = entries.find(({ key, field }) => key === formEntry.key && field === formEntry.field)?.value;
    if (entries.length > 0 && form !== storedFormVersion) {
      this.#removals.push(...entries.map(({ key, field }) => ({ key, field, value: undefined })));
      return false;
    }
    this.#isFormStored = form !== undefined;
    for (const entry of joinParts(entries)) {
      if (entry.key === formEntry.key && entry.field === formEntry.field) continue;
      if (this.gaps.load(entry) || this.planNumbers.load(entry) || this.pendingResyncs.load(entry)) continue;
      this.service(entry.key).load(entry);
      this.queue.set(entry.key, 0);
    }
    return true;
  }

  /** Drops all states of a removed cluster. If it is served after all, its next Change shows a gap. */
  removeCluster(cluster: string): void {
    for (const [key, state] of this.#services) {
      if (state.key.cluster === cluster) this.#drop(key, state);
    }
    this.gaps.removeCluster(cluster);
    this.pendingResyncs.remove((key) => isServiceKey(key) && parseServiceKey(key).cluster === cluster);
  }

  /** Returns and clears what is to be stored of these Services, of dropped states, and of the partition itself. */
  drainChanges(keys: Iterable<string>): StoredEntry[] {
    const changed: StoredEntry[] = [];
    for (const key of keys) {
      const state = this.#services.get(key);
      if (state === undefined) continue;
      if (isDisposable(state)) this.#drop(key, state);
      else for (const entry of state.drainStoredFields(key)) changed.push(entry);
    }
    // Removals come first: a dropped Service may have come back.
    const removals = this.#removals.splice(0);
    const entries = [
      ...removals,
      ...changed,
      ...this.gaps.drainChanges(),
      ...this.planNumbers.drainChanges(),
      ...this.pendingResyncs.drainChanges(),
    ];
    if (entries.length > 0 && !this.#isFormStored) {
      this.#isFormStored = true;
      entries.push(formEntry);
    }
    return entries;
  }

  #drop(key: string, state: ServiceState): void {
    state.clear();
    this.#removals.push(...state.drainStoredFields(key));
    this.#services.delete(key);
    this.queue.set(key, null);
    this.ready.remove(state.key);
    this.#onDropped(key);
  }
}
