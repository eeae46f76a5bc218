import { formatServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/platform';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { ThreadBudget } from '../thread-budget.ts';
import type { RecentChange, ServiceSummary, Update } from '../view/schemas.ts';
import type { ServiceIndex } from '../view/service-index.ts';
import { writesIn } from '../view/writes-in.ts';

/** Minimum time between two updates. */
const periodMs = 250;
/** Maximum number of Services in one update; the others follow in the next. */
const maxServices = 500;

/** Publishes changed Services and new writes to open pages. Replays nothing while no page is open. */
export class UpdatePublisher {
  readonly #history: History;
  readonly #index: ServiceIndex;
  readonly #clock: Clock;
  readonly #budget: ThreadBudget;
  readonly #listeners = new Set<(update: Update) => void>();
  readonly #dirty = new Map<string, Journal>();
  /** Time of the last published entry of each Service. */
  readonly #publishedUntil = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(history: History, index: ServiceIndex, clock: Clock, budget: ThreadBudget) {
    this.#history = history;
    this.#index = index;
    this.#clock = clock;
    this.#budget = budget;
  }

  /** Returns a function that unsubscribes. */
  subscribe(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      this.#dirty.clear();
      this.#publishedUntil.clear();
    };
  }

  #start(): () => void {
    let cancel: (() => void) | undefined;
    const flush = () => {
      cancel = undefined;
      this.#publish();
      if (this.#dirty.size > 0) flushLater();
    };
    const flushLater = () => {
      cancel ??= this.#clock.schedule(periodMs, () => void this.#budget.run(flush));
    };
    const unsubscribe = this.#history.onRecord((key) => {
      const journal = this.#history.get(key);
      if (journal === undefined) return;
      this.#dirty.set(formatServiceKey(key), journal);
      flushLater();
    });
    return () => {
      cancel?.();
      unsubscribe();
    };
  }

  #publish(): void {
    const services: ServiceSummary[] = [];
    const changes: RecentChange[] = [];
    for (const [name, journal] of this.#dirty) {
      if (services.length >= maxServices) break;
      this.#dirty.delete(name);
      services.push(this.#index.summary(journal));
      changes.push(...this.#newChanges(name, journal));
    }
    changes.sort((a, b) => a.at - b.at);
    for (const listener of this.#listeners) listener({ services, changes });
  }

  #newChanges(name: string, { key, entries }: Journal): RecentChange[] {
    const since = this.#publishedUntil.get(name) ?? this.#clock.now() - periodMs * 4;
    this.#publishedUntil.set(name, entries.at(-1)?.at ?? 0);
    return entries
      .filter(({ at }) => at > since)
      .flatMap(writesIn)
      .map((write) => this.#index.recentChange(key, write));
  }
}
