import type { BusRecord } from '@sluice/bus';

/** How long a reader waits for the next chunk of a message, in milliseconds (ADR 0028). */
const holdMs = 1_000;
/** A digest shows a message that is lost after this time at the latest, in milliseconds. */
const shownMs = 10_000;

/**
 * Whether a message in chunks was on its way for longer than readers wait. A reader that restarts meanwhile continues after its
 * first chunks, and the message is lost for it.
 */
export class LateMessages {
  readonly #now: () => number;
  /** When a part of a message was first sent, by the record that is its last chunk. */
  readonly #sentAt = new Map<string, number>();
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether there was one a short time ago. */
  get isRecent(): boolean {
    return this.#now() - this.#lastAt <= shownMs;
  }

  sent(records: readonly BusRecord[]): void {
    for (const id of messagesIn(records)) if (!this.#sentAt.has(id)) this.#sentAt.set(id, this.#now());
  }

  appended(records: readonly BusRecord[]): void {
    for (const id of messagesIn(records)) {
      if (this.#now() - (this.#sentAt.get(id) ?? this.#now()) >= holdMs) this.#lastAt = this.#now();
      this.#sentAt.delete(id);
    }
  }
}

/** Ids of the messages in chunks: that of the last chunk. */
const messagesIn = (records: readonly BusRecord[]): readonly string[] =>
  records.flatMap(({ id, headers }) => (headers['Sluice-Chunk'] !== undefined && !id.includes('/chunk/') ? [id] : []));
