import type { BusRecord, Topic } from '@sluice/bus';
import { formatServiceKey, isServiceKey, parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { Journal } from './journal.ts';
import { keep } from './kept-record.ts';

export interface HistoryOptions {
  readonly clock: Clock;
  /** Of all records together; beyond it the older half of some Service's records goes. Default 128 MiB. */
  readonly maxBytes?: number;
  /** How long records are kept. Default 24 h. */
  readonly retentionMs?: number;
}

/** How much is kept of a Service however many there are. */
const leastBytes = 16 * 1024;

/** The journals of all Services that the bus has told of. */
export class History {
  readonly retentionMs: number;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #journals = new Map<string, Journal>();
  readonly #listeners = new Set<(key: ServiceKey) => void>();
  #bytes = 0;
  /** Before it nothing is known: when the first record came, or what the first record of a log tells of. */
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

  /** What is kept tells of things from that time on, long as they may have been read after it. */
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

  /** Calls back for each record that is kept, with the Service that it is about. Returns how to end that. */
  onRecord(listener: (key: ServiceKey) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Drops what is older than the retention, and Services of which nothing is left. */
  expire(): void {
    const limit = this.#clock.now() - this.retentionMs;
    for (const [name, journal] of this.#journals) {
      this.#change(journal, () => journal.dropBefore(limit));
      if (journal.isEmpty) this.#journals.delete(name);
    }
    if (this.#since !== undefined) this.#since = Math.max(this.#since, limit);
  }

  /** Takes from those that have more than their share, until a tenth is free. */
  #shrink(): void {
    const wanted = this.#maxBytes * 0.9;
    while (this.#bytes > wanted) {
      const before = this.#bytes;
      const share = Math.max(leastBytes, this.#bytes / this.#journals.size);
      for (const journal of this.#journals.values()) {
        if (this.#bytes <= wanted) return;
        if (journal.bytes >= share) this.#change(journal, () => journal.halve());
      }
      // Nobody has more than the least: there are too many Services for the limit.
      if (this.#bytes === before) return;
    }
  }

  #change(journal: Journal, change: () => void): void {
    this.#bytes -= journal.bytes;
    change();
    this.#bytes += journal.bytes;
  }
}
