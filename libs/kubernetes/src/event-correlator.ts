import type { EventToRecord } from '@sluice/model';
import { TokenBucket } from '@sluice/platform';

/** What to do with an event, given all earlier ones (J4). */
type EventCorrelateResult =
  | {
      readonly action: 'create';
      readonly key: string;
      readonly message: string;
      readonly firstAt: number;
      readonly count: number;
    }
  /** A repetition: increase the count of the stored Event with this key. */
  | {
      readonly action: 'patch';
      readonly key: string;
      readonly message: string;
      readonly firstAt: number;
      readonly count: number;
    }
  /** Rate limited: too many events for this object. */
  | { readonly action: 'drop' };

interface AggregateRecord {
  readonly messages: Set<string>;
  lastAt: number;
}

interface EventLog {
  readonly count: number;
  readonly firstAt: number;
}

const maxLruCacheEntries = 4096;
/** From this many different messages of one kind within the interval on, events are combined into one. */
const maxSimilarMessages = 10;
const similarIntervalMs = 600_000;
const burst = 25;
const perSecond = 1 / 300;

/**
 * Limits a controller's events by the rules of client-go's EventCorrelator (J4): similar events are combined, equal events are
 * counted, and each object gets a burst of 25 and then one per five minutes.
 */
export class EventCorrelator {
  readonly #similar = new LruCache<AggregateRecord>(maxLruCacheEntries);
  readonly #seen = new LruCache<EventLog>(maxLruCacheEntries);
  readonly #tokens = new LruCache<TokenBucket>(maxLruCacheEntries);

  /** `now` is in milliseconds since the epoch. */
  correlate(event: EventToRecord, component: string, now: number): EventCorrelateResult {
    const { kind, namespace, name, uid = '' } = event.regarding;
    const object = [component, kind, namespace, name, uid].join('\n');
    const { key, message } = this.#aggregate(`${object}\n${event.type}\n${event.reason}`, event.message, now);
    const before = this.#seen.get(key);
    const seen = { count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? now };
    this.#seen.set(key, seen);
    if (!this.#allow(object, now)) return { action: 'drop' };
    return { action: before === undefined ? 'create' : 'patch', key, message, ...seen };
  }

  /** The stored Event with this key no longer exists; the next one is created. */
  forget(key: string): void {
    this.#seen.delete(key);
  }

  #aggregate(group: string, message: string, now: number): { readonly key: string; readonly message: string } {
    let similar = this.#similar.get(group);
    if (similar === undefined || now - similar.lastAt > similarIntervalMs)
      similar = { messages: new Set(), lastAt: now };
    similar.lastAt = now;
    similar.messages.add(message);
    this.#similar.set(group, similar);
    if (similar.messages.size < maxSimilarMessages) return { key: `${group}\n${message}`, message };
    // Bounds the set; which message is dropped makes no difference.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  #allow(object: string, now: number): boolean {
    const tokens = this.#tokens.get(object) ?? new TokenBucket(perSecond, now, burst);
    this.#tokens.set(object, tokens);
    return tokens.tryTake(now);
  }
}

/** Evicts the least recently set entry. */
class LruCache<V> {
  readonly #entries = new Map<string, V>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#size) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
