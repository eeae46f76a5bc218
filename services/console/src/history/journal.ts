import type { Topic } from '@sluice/bus';
import type { ServiceKey } from '@sluice/messages';
import type { Entry } from './entry.ts';
import type { HistoryState } from './history-state.ts';
import { type KeptRecord, sizeOf } from './kept-record.ts';
import { recordStored, type StoredVersions, withoutOwnWrites } from './own-writes.ts';
import { Replay } from './replay.ts';

/** How many Changes before an Outcome may contain what its plan wrote. */
const earlyOwnWrites = 8;

interface Replayed {
  readonly replay: Replay;
  readonly entries: Entry[];
  /** For each applied record, the time that the history had reached. */
  readonly steps: number[];
}

/**
 * The history of one Service: its records as they arrived, and the state before the first of them. Nothing is decoded or
 * applied until somebody reads it.
 */
export class Journal {
  readonly key: ServiceKey;
  /** Size of all kept records in memory. */
  bytes = 0;
  /** When the last record was kept; 0: there is none. */
  lastKeptAt = 0;
  /** Increases whenever the content may have changed. */
  version = 0;
  #before: Replay;
  readonly #stored: StoredVersions = new Map();
  #changes: KeptRecord[] = [];
  #mutations: KeptRecord[] = [];
  #live: Replayed | undefined;

  constructor(key: ServiceKey) {
    this.key = key;
    this.#before = new Replay(key);
  }

  add(topic: Topic, record: KeptRecord): void {
    const kept = topic === 'changes' ? this.#withoutOwnWrites(record) : record;
    this.bytes += kept.size;
    this.version++;
    this.lastKeptAt = kept.keptAt;
    if (topic === 'changes') this.#changes.push(kept);
    else this.#mutations.push(kept);
  }

  /** Drops repeated content from messages. Bytes stay as they are until somebody reads them. */
  #withoutOwnWrites(record: KeptRecord): KeptRecord {
    const { content } = record;
    if (content instanceof Uint8Array) return record;
    if (content.kind === 'change') return this.#withoutOwnWrite(record);
    // The watch may have been faster than the Outcome.
    if (content.kind === 'outcome' && recordStored(this.#stored, content)) {
      const { length } = this.#changes;
      for (let i = Math.max(0, length - earlyOwnWrites); i < length; i++) {
        const before = this.#changes[i];
        if (before === undefined) continue;
        const after = this.#withoutOwnWrite(before);
        this.#changes[i] = after;
        this.bytes += after.size - before.size;
      }
    }
    return record;
  }

  #withoutOwnWrite(record: KeptRecord): KeptRecord {
    const { content } = record;
    if (content instanceof Uint8Array || content.kind !== 'change') return record;
    const { change, ownWrites } = withoutOwnWrites(content, this.#stored);
    if (change === content) return record;
    const names = [...new Set([...(record.ownWrites ?? []), ...ownWrites])];
    return { ...record, content: change, ownWrites: names, size: sizeOf(change) };
  }

  /** The state now. */
  get state(): HistoryState {
    return this.#replayed().replay.state;
  }

  /** In the order in which they happened. */
  get entries(): readonly Entry[] {
    return this.#replayed().entries;
  }

  /** The state after the last entry that is not later than `at`. */
  stateAt(at: number): HistoryState {
    const { steps } = this.#replayed();
    const later = steps.findIndex((time) => time > at);
    return this.#replay(later < 0 ? steps.length : later).replay.state;
  }

  /** Drops the older half of the records; the state before the rest includes them. */
  halve(): void {
    this.#drop(Math.ceil((this.#changes.length + this.#mutations.length) / 2));
  }

  /** Drops records kept before that time. */
  dropBefore(time: number): void {
    const count = (records: readonly KeptRecord[]) => {
      const first = records.findIndex(({ keptAt }) => keptAt >= time);
      return first < 0 ? records.length : first;
    };
    this.#drop(count(this.#changes) + count(this.#mutations));
  }

  /** True if nothing is left of the Service, not even its history. */
  get isEmpty(): boolean {
    return this.#changes.length + this.#mutations.length === 0 && this.#before.state.isEmpty;
  }

  get #records() {
    return { changes: this.#changes, mutations: this.#mutations };
  }

  #replayed(): Replayed {
    this.#live = this.#advance(this.#live ?? this.#begin());
    if (this.#live.replay.isStale) this.#live = this.#replay(Number.POSITIVE_INFINITY);
    this.#live.replay.isStale = false;
    return this.#live;
  }

  #begin(isRead = true): Replayed {
    return { replay: new Replay(this.key, this.#before, { isRead }), entries: [], steps: [] };
  }

  #replay(steps: number, isRead = true): Replayed {
    return this.#advance(this.#begin(isRead), steps);
  }

  /** Applies records until this many are applied, or all. */
  #advance(replayed: Replayed, steps = Number.POSITIVE_INFINITY): Replayed {
    const { replay, entries } = replayed;
    while (replayed.steps.length < steps) {
      const next = replay.next(this.#records);
      if (next === null) break;
      entries.push(...next);
      replayed.steps.push(Math.max(replayed.steps.at(-1) ?? 0, next[0]?.at ?? 0));
    }
    return replayed;
  }

  #drop(records: number): void {
    if (records === 0) return;
    this.version++;
    const { replay } = this.#replay(records, false);
    this.#changes = this.#changes.slice(replay.changes);
    this.#mutations = this.#mutations.slice(replay.mutations);
    this.bytes = [...this.#changes, ...this.#mutations].reduce((sum, { size }) => sum + size, 0);
    this.#before = new Replay(this.key, replay);
    this.#live = undefined;
  }
}
