import type { EventToRecord } from '@sluice/controllers';

/** What is to be done with an event, after everything that was recorded before (J4). */
export type Correlated =
  | {
      readonly action: 'create';
      readonly key: string;
      readonly message: string;
      readonly firstAt: number;
      readonly count: number;
    }
  /** It happened before: the stored Event of that key is counted up. */
  | {
      readonly action: 'patch';
      readonly key: string;
      readonly message: string;
      readonly firstAt: number;
      readonly count: number;
    }
  /** Too many about this object. */
  | { readonly action: 'drop' };

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

interface Seen {
  readonly count: number;
  readonly firstAt: number;
}

interface Tokens {
  left: number;
  at: number;
}

const remembered = 4096;
/** More than this many different messages of one kind within the interval are told as one. */
const similarMessages = 10;
const similarIntervalMs = 600_000;
const burst = 25;
const refillMs = 300_000;

/**
 * Keeps a controller's events from flooding a cluster, by the rules of client-go (J4): similar ones are combined, equal
 * ones counted, and each object gets a burst of 25 and then one in five minutes.
 */
export class EventCorrelator {
  readonly #similar = new Recent<Similar>(remembered);
  readonly #seen = new Recent<Seen>(remembered);
  readonly #tokens = new Recent<Tokens>(remembered);

  /** `now` is in milliseconds since the epoch. */
  correlate(event: EventToRecord, component: string, now: number): Correlated {
    const { kind, namespace, name, uid = '' } = event.regarding;
    const object = [component, kind, namespace, name, uid].join('\n');
    const { key, message } = this.#combine(`${object}\n${event.type}\n${event.reason}`, event.message, now);
    const before = this.#seen.get(key);
    const seen = { count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? now };
    this.#seen.set(key, seen);
    if (!this.#admits(object, now)) return { action: 'drop' };
    return { action: before === undefined ? 'create' : 'patch', key, message, ...seen };
  }

  /** The stored Event of this key is gone, so the next one is created anew. */
  forget(key: string): void {
    this.#seen.delete(key);
  }

  #combine(group: string, message: string, now: number): { readonly key: string; readonly message: string } {
    let similar = this.#similar.get(group);
    if (similar === undefined || now - similar.lastAt > similarIntervalMs)
      similar = { messages: new Set(), lastAt: now };
    similar.lastAt = now;
    similar.messages.add(message);
    this.#similar.set(group, similar);
    if (similar.messages.size < similarMessages) return { key: `${group}\n${message}`, message };
    // Bounded: which of the messages is forgotten makes no difference.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  #admits(object: string, now: number): boolean {
    const tokens = this.#tokens.get(object) ?? { left: burst, at: now };
    tokens.left = Math.min(burst, tokens.left + (now - tokens.at) / refillMs);
    tokens.at = now;
    this.#tokens.set(object, tokens);
    if (tokens.left < 1) return false;
    tokens.left -= 1;
    return true;
  }
}

/** A map that forgets what was not used for longest. */
class Recent<V> {
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
