import { isServiceKey } from '@sluice/messages';
import { backoffMs, type Clock, type Random } from '@sluice/platform';
import type { StoredEntry } from '@sluice/store';
import { DelayingQueue } from './delaying-queue.ts';

const field = 'resync';
/** Delay before a request is repeated. The first one is sent at once. */
const backoff = { baseMs: 1_000, maxMs: 600_000 };

interface Entry {
  reason: string;
  /** False: the last request was answered, and the entry only remembers how often it had to be sent. */
  pending: boolean;
  /** Requests sent. */
  attempts: number;
  /** Backoff after the last request, in milliseconds. */
  delayMs: number;
  /** Time of the answer, by the monotonic clock. */
  answeredAt: number;
}

/**
 * Services that need a resync, by formatted key. A request is repeated with exponential backoff until a complete snapshot
 * answers it. If the Service needs another one soon after, the backoff continues: an answer that cannot be applied, or that
 * leads to the same failure again, must not cause an endless stream of requests. Stored with the partition, so a new owner
 * continues; it sends its first request at once, because it may be able to read what the previous owner could not.
 */
export class PendingResyncs {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #entries = new Map<string, Entry>();
  /** When a pending entry is to be sent, or an answered one may be deleted, by the monotonic clock. */
  readonly #queue = new DelayingQueue();
  readonly #changed = new Set<string>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Requests a resync of the Service. Returns false if one is pending already. */
  add(key: string, reason: string): boolean {
    const now = this.#clock.monotonic();
    const entry = this.#entries.get(key);
    if (entry?.pending === true) return false;
    this.#changed.add(key);
    if (entry === undefined || now >= entry.answeredAt + 2 * entry.delayMs) {
      this.#entries.set(key, { reason, pending: true, attempts: 0, delayMs: 0, answeredAt: 0 });
      this.#queue.set(key, now);
      return true;
    }
    // Reachable: resync requested again soon after its answer
    this.#entries.set(key, { ...entry, reason, pending: true });
    this.#queue.set(key, entry.answeredAt + entry.delayMs);
    return true;
  }

  /** A complete snapshot of the Service has been applied. */
  resolve(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.pending !== true) return;
    this.#changed.add(key);
    const answeredAt = this.#clock.monotonic();
    this.#entries.set(key, { ...entry, pending: false, answeredAt });
    this.#queue.set(key, answeredAt + 2 * entry.delayMs);
  }

  /** Drops every entry that matches. */
  remove(matches: (key: string) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (matches(key)) this.#delete(key);
  }

  /** When the next request is due, in milliseconds since the Unix epoch. */
  get dueAt(): number | undefined {
    const at = this.#queue.next();
    return at === undefined ? undefined : this.#clock.now() + Math.ceil(at - this.#clock.monotonic());
  }

  /** The Services whose request is to be sent now, with the reason. Each is due again after its backoff. */
  takeDue(): readonly (readonly [key: string, reason: string])[] {
    const now = this.#clock.monotonic();
    return this.#queue.take(now).flatMap((key) => {
      const entry = this.#entries.get(key);
      if (entry === undefined) return [];
      if (!entry.pending) {
        this.#delete(key);
        return [];
      }
      const delayMs = Math.round(backoffMs(backoff, entry.attempts, this.#random));
      this.#entries.set(key, { ...entry, attempts: entry.attempts + 1, delayMs });
      this.#changed.add(key);
      this.#queue.set(key, now + delayMs);
      return [[key, entry.reason] as const];
    });
  }

  /** Loads a stored entry; false if it is not a pending resync. Throws TypeError if its value is invalid. */
  load({ key, field: name, value }: StoredEntry): boolean {
    if (name !== field) return false;
    const { reason, attempts } = (value ?? {}) as Partial<Entry>;
    if (typeof reason !== 'string' || typeof attempts !== 'number' || !isServiceKey(key)) {
      throw new TypeError(`stored field ${field} of ${key} is invalid`);
    }
    this.#entries.set(key, { reason, attempts, pending: true, delayMs: 0, answeredAt: 0 });
    this.#queue.set(key, this.#clock.monotonic());
    return true;
  }

  /** Returns and clears the changed entries, to be committed. */
  drainChanges(): StoredEntry[] {
    const entries = [...this.#changed].map((key) => {
      const entry = this.#entries.get(key);
      const value = entry?.pending ? { reason: entry.reason, attempts: entry.attempts } : undefined;
      return { key, field, value };
    });
    this.#changed.clear();
    return entries;
  }

  #delete(key: string): void {
    this.#entries.delete(key);
    this.#queue.set(key, null);
    this.#changed.add(key);
  }
}
