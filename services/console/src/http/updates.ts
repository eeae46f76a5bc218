import { formatServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { DoneEntry } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { Directory } from '../view/directory.ts';
import type { RecentChange, ServiceSummary, Update } from '../view/schemas.ts';

/** Minimum time between two updates of a page, in milliseconds. */
const periodMs = 250;
/** Services in one update; the rest come with the next. */
const servicesTold = 500;

/** Sends news to open pages. Nothing is replayed while no page is open. */
export class Updates {
  readonly #history: History;
  readonly #directory: Directory;
  readonly #clock: Clock;
  readonly #listeners = new Set<(update: Update) => void>();
  readonly #waiting = new Map<string, Journal>();
  /** How many entries of a Service were told of or were there before. */
  readonly #told = new Map<string, number>();
  #stop: (() => void) | undefined;

  constructor(history: History, directory: Directory, clock: Clock) {
    this.#history = history;
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Returns how to end it. */
  subscribe(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      this.#waiting.clear();
      this.#told.clear();
    };
  }

  #start(): () => void {
    let cancel: (() => void) | undefined;
    const unsubscribe = this.#history.onRecord((key) => {
      const name = formatServiceKey(key);
      const journal = this.#history.get(key);
      if (journal === undefined) return;
      this.#waiting.set(name, journal);
      cancel ??= this.#clock.schedule(periodMs, tell);
    });
    const tell = () => {
      cancel = undefined;
      this.#tell();
      if (this.#waiting.size > 0) cancel = this.#clock.schedule(periodMs, tell);
    };
    return () => {
      cancel?.();
      unsubscribe();
    };
  }

  #tell(): void {
    const services: ServiceSummary[] = [];
    const changes: RecentChange[] = [];
    for (const [name, journal] of this.#waiting) {
      if (services.length >= servicesTold) break;
      this.#waiting.delete(name);
      services.push(this.#directory.summary(journal));
      changes.push(...this.#newChanges(name, journal));
    }
    changes.sort((a, b) => a.at - b.at);
    for (const listener of this.#listeners) listener({ services, changes });
  }

  #newChanges(name: string, { key, entries }: Journal): RecentChange[] {
    const since = this.#told.get(name);
    const last = entries.at(-1)?.at ?? 0;
    this.#told.set(name, last);
    const isNew = ({ at }: DoneEntry) => (since === undefined ? at > this.#clock.now() - periodMs * 4 : at > since);
    return entries
      .filter((entry): entry is DoneEntry => entry.kind === 'done' && isNew(entry))
      .map((entry) => this.#directory.change(key, entry));
  }
}
