import type { BusRecord, Topic } from '@sluice/bus';
import { LogicalServices } from '@sluice/logical-services';
import { formatServiceKey, isServiceKey, parseServiceKey, type ServiceKey } from '@sluice/messages';
import type { Clock, Logger } from '@sluice/platform';
import { Journal } from './journal.ts';
import { messageOf, type RetainedRecord, retain } from './retained-record.ts';

interface HistoryOptions {
  readonly clock: Clock;
  /** Gets one warning when `maxServices` is reached. */
  readonly logger?: Logger;
  /** Maximum size of all records in bytes; beyond it, the older half of the longest histories is dropped. Default 128 MiB. */
  readonly maxBytes?: number;
  /**
   * Maximum number of Services: each takes memory whatever its records are. Those that appear later are only joined over all
   * clusters. Default: no limit.
   */
  readonly maxServices?: number | undefined;
  /** Default 24 h. */
  readonly retentionMs?: number;
  /** Label of a Service with its name in all clusters, if it has another name in its own. Default: none. */
  readonly serviceNameLabel?: string | undefined;
}

const expiryMs = 60_000;
/** Histories smaller than this are never shortened to save memory. */
const minBytes = 16 * 1024;

/** The journals of all Services, and the Services joined over all clusters. */
export class History {
  readonly retentionMs: number;
  readonly logicalServices: LogicalServices;
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;
  readonly #maxBytes: number;
  readonly #maxServices: number;
  readonly #journals = new Map<string, Journal>();
  readonly #listeners = new Set<(key: ServiceKey) => void>();
  #bytes = 0;
  /** Size beyond which histories are shortened. */
  #shrinkAbove: number;
  #isFull = false;
  #since: number | undefined;

  constructor(options: HistoryOptions) {
    const { clock, logger, maxBytes = 128 * 1024 * 1024, retentionMs = 24 * 3_600_000, serviceNameLabel } = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#maxBytes = maxBytes;
    this.#shrinkAbove = maxBytes;
    this.#maxServices = options.maxServices ?? Number.POSITIVE_INFINITY;
    this.retentionMs = retentionMs;
    this.logicalServices = new LogicalServices({ nameLabel: serviceNameLabel });
  }

  /** Retains a record of a Service, and the removal of a cluster. Ignores any other record. */
  add(topic: Topic, partition: number, record: BusRecord, receivedAt = this.#clock.now()): void {
    if (topic === 'requests') return;
    const { key } = record;
    let journal = this.#journals.get(key);
    const retained = retain(record, receivedAt);
    if (topic === 'changes') this.#join(key, retained);
    if (journal === undefined) {
      if (!isServiceKey(key)) return this.#addRemoval(partition, key, retained);
      if (this.#journals.size >= this.#maxServices) return this.#fill();
      journal = new Journal(parseServiceKey(key), partition);
      this.#journals.set(key, journal);
    }
    journal.partition = partition;
    this.#since ??= retained.receivedAt;
    this.#append(journal, topic, retained);
  }

  #fill(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const fields = { services: this.#maxServices, setting: 'console.maxServices' };
    this.#logger?.warn('history is full; further Services are only joined over all clusters', fields);
  }

  #join(key: string, retained: RetainedRecord): void {
    const message = messageOf(retained);
    if (message !== undefined) this.logicalServices.apply(key, message, retained.receivedAt);
  }

  /** Retains the removal of a cluster for its Services in this partition. Those in others may have been published again. */
  #addRemoval(partition: number, key: string, record: RetainedRecord): void {
    const message = messageOf(record);
    if (message?.kind !== 'clusterRemoved' || message.cluster !== key) return;
    const shared = { ...record, content: message };
    for (const journal of this.#journals.values()) {
      if (journal.key.cluster === key && journal.partition === partition) this.#append(journal, 'changes', shared);
    }
  }

  #append(journal: Journal, topic: Topic, record: RetainedRecord): void {
    this.#update(journal, () => journal.add(topic, record));
    if (this.#bytes > this.#shrinkAbove) this.#shrink();
    for (const listener of this.#listeners) listener(journal.key);
  }

  /** Moves the start of the history back to the time of a record that was read later. */
  extendBack(time: number): void {
    this.#since = Math.min(this.#since ?? time, time);
  }

  get(key: ServiceKey): Journal | undefined {
    return this.#journals.get(formatServiceKey(key));
  }

  get journals(): Iterable<Journal> {
    return this.#journals.values();
  }

  /** Number of Services. */
  get size(): number {
    return this.#journals.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Maximum number of Services if it was reached; undefined: every Service has a history. */
  get servicesLimit(): number | undefined {
    return this.#isFull ? this.#maxServices : undefined;
  }

  /** Start of the history in milliseconds since the Unix epoch; undefined if it is empty. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Calls `listener` with the Service of each new record. Returns a function that unsubscribes. */
  onRecord(listener: (key: ServiceKey) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Drops records older than the retention, and Services of which nothing is left. */
  expire(): void {
    const limit = this.#clock.now() - this.retentionMs;
    for (const [name, journal] of this.#journals) {
      this.#update(journal, () => journal.dropBefore(limit));
      if (journal.isEmpty) this.#journals.delete(name);
    }
    if (this.#since !== undefined) this.#since = Math.max(this.#since, limit);
    this.#shrinkAbove = this.#maxBytes;
  }

  /** Expires records periodically and then calls `onExpired`. Returns a function that stops this. */
  expirePeriodically(onExpired: () => void = () => {}): () => void {
    const expire = () => {
      this.expire();
      onExpired();
      cancel = this.#clock.schedule(expiryMs, expire);
    };
    let cancel = this.#clock.schedule(expiryMs, expire);
    return () => cancel();
  }

  /** Halves histories larger than the average until 10 % of the limit is free, or all are at the minimum. */
  #shrink(): void {
    const target = this.#maxBytes * 0.9;
    for (let before = Number.POSITIVE_INFINITY; this.#bytes > target && this.#bytes < before; ) {
      before = this.#bytes;
      const average = Math.max(minBytes, this.#bytes / this.#journals.size);
      for (const journal of this.#journals.values()) {
        if (this.#bytes <= target) break;
        if (journal.bytes >= average) this.#update(journal, () => journal.halve());
      }
    }
    // If there are too many Services for the limit, going through all of them at each record would take too long.
    this.#shrinkAbove = Math.max(this.#maxBytes, this.#bytes * 1.1);
  }

  #update(journal: Journal, change: () => void): void {
    this.#bytes -= journal.bytes;
    change();
    this.#bytes += journal.bytes;
  }
}
