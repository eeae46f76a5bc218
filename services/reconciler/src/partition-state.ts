import { parseServiceKey } from '@sluice/messages';
import { isDisposable, joinParts, ReadyEndpoints, ServiceState } from '@sluice/service-state';
import type { StoredEntry } from '@sluice/store';
import { DueQueue } from './due-queue.ts';
import { Heard } from './heard.ts';
import { PlanNumbers } from './plan-numbers.ts';

/** All that is known of one partition. What changes in it is stored with the next commit. */
export class PartitionState {
  readonly heard = new Heard();
  readonly planNumbers = new PlanNumbers();
  readonly ready = new ReadyEndpoints();
  /** When Services have something to decide though nothing comes in, by formatted key. */
  readonly due = new DueQueue();
  readonly #views = new Map<string, ServiceState>();
  /** Removals of fields of views that are dropped. */
  readonly #removals: StoredEntry[] = [];
  readonly #onDropped: (key: string) => void;

  /** `onDropped`: told of each view that is dropped, by formatted key. */
  constructor(onDropped: (key: string) => void) {
    this.#onDropped = onDropped;
  }

  /** By formatted key. */
  get views(): ReadonlyMap<string, ServiceState> {
    return this.#views;
  }

  /** The view of a Service; a new one if nothing is known of it. */
  view(key: string): ServiceState {
    let view = this.#views.get(key);
    if (view === undefined) {
      view = new ServiceState(parseServiceKey(key));
      this.#views.set(key, view);
    }
    return view;
  }

  /** Takes what is stored. All of it may be due. */
  load(entries: readonly StoredEntry[]): void {
    for (const entry of joinParts(entries)) {
      if (this.heard.load(entry) || this.planNumbers.load(entry)) continue;
      this.view(entry.key).load(entry);
      this.due.set(entry.key, 0);
    }
  }

  /** Of this cluster nothing is kept. Should it be served after all, what comes next shows a gap. */
  forgetCluster(cluster: string): void {
    for (const [key, view] of this.#views) {
      if (view.key.cluster === cluster) this.#drop(key, view);
    }
    this.heard.drop(cluster);
  }

  /** What is to be stored of these Services, of views that were dropped, and of the partition itself. */
  takeChanges(keys: Iterable<string>): StoredEntry[] {
    const changed: StoredEntry[] = [];
    for (const key of keys) {
      const view = this.#views.get(key);
      if (view === undefined) continue;
      if (isDisposable(view)) this.#drop(key, view);
      else changed.push(...view.takeChanges(key));
    }
    // What was dropped may have come back since.
    const removals = this.#removals.splice(0);
    return [...removals, ...changed, ...this.heard.takeChanges(), ...this.planNumbers.takeChanges()];
  }

  #drop(key: string, view: ServiceState): void {
    view.clear();
    this.#removals.push(...view.takeChanges(key));
    this.#views.delete(key);
    this.due.set(key, null);
    this.ready.drop(view.key);
    this.#onDropped(key);
  }
}
