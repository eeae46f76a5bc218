import type { BusRecord, Topic } from '@sluice/bus';
import { formatServiceKey, isServiceKey, parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { Journal } from './journal.ts';
import { keep } from './kept-record.ts';

export interface HistoryOptions {
  readonly clock: Clock;
  /** Maximum size of all records; beyond it, the older half of the longest histories is dropped. Default 128 MiB. */
  readonly maxBytes?: number;
  /** How long records are kept. Default 24 h. */
  readonly retentionMs?: number;
}

/** Kept of each Service, however many there are. */
const leastBytes = 16 * 1024;

/** The journals of all Services with records on the bus. */
export class History {
  readonly retentionMs: number;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #journals = new Map<string, Journal>();
  readonly #listeners = new Set<(key: ServiceKey) => void>();
  #bytes = 0;
  /** Start of the history: when the first record arrived, or the time of the log's first record. */
  #since: number | undefined;

  constructor({ clock, maxBytes = 128 * 1024 * 1024, retentionMs = 24 * 3_600_000 }: HistoryOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.retentionMs = retentionMs;
  }

  /** Keeps a record. Cheap: nothing is decoded or encoded. Records whose key names no Service are left out. */
  add(topic: Topic, record: BusRecord): void {
    if (topic === 'requests') return;
    const { key } = record;
    let journal = this.#journals.get(key);
    if (journal === undefined) {
      if (!isServiceKey(key)) return;
      journal = new Journal(parseServiceKey(key));
      this.#journals.set(key, journal);
    }
    const keptAt = this.#clock.now();
    this.#since ??= keptAt;
    this.#change(journal, () => journal.add(topic, keep(record, keptAt)));
    if (this.#bytes > this.#maxBytes) this.#shrink();
    for (const listener of this.#listeners) listener(journal.key);
  }

  /** The kept records begin at that time, although they may have been read later. */
  reachesBackTo(time: number): void {
    this.#since = Math.min(this.#since ?? time, time);
  }

  get(key: ServiceKey): Journal | undefined {
    return this.#journals.get(formatServiceKey(key));
  }

  get journals(): Iterable<Journal> {
    return this.#journals.values();
  }

  /** How many Services there are. */
  get size(): number {
    return this.#journals.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** In milliseconds since the Unix epoch; undefined if nothing is known yet. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Calls `listener` with the Service of each kept record. Returns a function that stops this. */
  onRecord(listener: (key: ServiceKey) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Drops records older than the retention, and Services without any content. */
  expire(): void {
    const limit = this.#clock.now() - this.retentionMs;
    for (const [name, journal] of this.#journals) {
      this.#change(journal, () => journal.dropBefore(limit));
      if (journal.isEmpty) this.#journals.delete(name);
    }
    if (this.#since !== undefined) this.#since = Math.max(this.#since, limit);
  }

  /** Halves histories larger than the average until a tenth is free. */
  #shrink(): void {
    const wanted = this.#maxBytes * 0.9;
    while (this.#bytes > wanted) {
      const before = this.#bytes;
      const share = Math.max(leastBytes, this.#bytes / this.#journals.size);
      for (const journal of this.#journals.values()) {
        if (this.#bytes <= wanted) return;
        if (journal.bytes >= share) this.#change(journal, () => journal.halve());
      }
      // All are at the minimum: there are too many Services for the limit.
      if (this.#bytes === before) return;
    }
  }

  #change(journal: Journal, change: () => void): void {
    this.#bytes -= journal.bytes;
    change();
    this.#bytes += journal.bytes;
  }
}
