import type { Topic } from '@sluice/bus';
import type { ServiceKey } from '@sluice/messages';
import type { Entry } from './entry.ts';
import { Folding } from './folding.ts';
import { type KeptRecord, sizeOf } from './kept-record.ts';
import type { ServiceState } from './service-state.ts';
import { noteWritten, type Written, withoutEchoes } from './without-echoes.ts';

/** So many Changes before an Outcome may be echoes of what it tells. */
const echoesSooner = 8;

interface Folded {
  readonly folding: Folding;
  readonly entries: Entry[];
  /** For each record that was folded, the time up to which the history was told then. */
  readonly steps: number[];
}

/**
 * The history of one Service: its records as they came, and the state before the first of them. Nothing is decoded or folded
 * until somebody looks.
 */
export class Journal {
  readonly key: ServiceKey;
  /** Of all records that are kept, in memory. */
  bytes = 0;
  /** When its last record was kept; 0: none was. */
  lastKeptAt = 0;
  /** Rises whenever what it tells may have changed. */
  version = 0;
  #before: Folding;
  readonly #written: Written = new Map();
  #changes: KeptRecord[] = [];
  #mutations: KeptRecord[] = [];
  #live: Folded | undefined;

  constructor(key: ServiceKey) {
    this.key = key;
    this.#before = new Folding(key);
  }

  add(topic: Topic, record: KeptRecord): void {
    const kept = topic === 'changes' ? this.#withoutEchoes(record) : record;
    this.bytes += kept.size;
    this.version++;
    this.lastKeptAt = kept.keptAt;
    if (topic === 'changes') this.#changes.push(kept);
    else this.#mutations.push(kept);
  }

  /** Of messages alone: bytes are not read before somebody looks. */
  #withoutEchoes(record: KeptRecord): KeptRecord {
    const { content } = record;
    if (content instanceof Uint8Array) return record;
    if (content.kind === 'change') return this.#withoutEcho(record);
    // The watch may have been faster than the answer to the write.
    if (content.kind === 'outcome' && noteWritten(this.#written, content)) {
      const { length } = this.#changes;
      for (let i = Math.max(0, length - echoesSooner); i < length; i++) {
        const before = this.#changes[i];
        if (before === undefined) continue;
        const after = this.#withoutEcho(before);
        this.#changes[i] = after;
        this.bytes += after.size - before.size;
      }
    }
    return record;
  }

  #withoutEcho(record: KeptRecord): KeptRecord {
    const { content } = record;
    if (content instanceof Uint8Array || content.kind !== 'change') return record;
    const less = withoutEchoes(content, this.#written);
    return less === content ? record : { ...record, content: less, size: sizeOf(less) };
  }

  /** Everything up to now. */
  get state(): ServiceState {
    return this.#folded().folding.state;
  }

  /** In the order in which it happened. */
  get entries(): readonly Entry[] {
    return this.#folded().entries;
  }

  /** The state when the last entry that is not later than `at` had been folded. */
  stateAt(at: number): ServiceState {
    const { steps } = this.#folded();
    const later = steps.findIndex((time) => time > at);
    return this.#fold(later < 0 ? steps.length : later).folding.state;
  }

  /** Drops the older half of the records; what they said stays in the state before the rest. */
  halve(): void {
    this.#drop(Math.ceil((this.#changes.length + this.#mutations.length) / 2));
  }

  /** Drops what was kept before that time. */
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

  #folded(): Folded {
    this.#live = this.#advance(this.#live ?? this.#begin());
    if (this.#live.folding.stale) this.#live = this.#fold(Number.POSITIVE_INFINITY);
    this.#live.folding.stale = false;
    return this.#live;
  }

  #begin(isRead = true): Folded {
    return { folding: new Folding(this.key, this.#before, { isRead }), entries: [], steps: [] };
  }

  #fold(steps: number, isRead = true): Folded {
    return this.#advance(this.#begin(isRead), steps);
  }

  /** Folds on until so many records are folded, or all. */
  #advance(folded: Folded, steps = Number.POSITIVE_INFINITY): Folded {
    const { folding, entries } = folded;
    while (folded.steps.length < steps) {
      const entry = folding.next(this.#records);
      if (entry === null) break;
      if (entry) entries.push(entry);
      const late = folding.afterOutcome(folding.state.seenAt);
      if (late) entries.push(late);
      folded.steps.push(Math.max(folded.steps.at(-1) ?? 0, entry?.at ?? 0));
    }
    return folded;
  }

  #drop(records: number): void {
    if (records === 0) return;
    this.version++;
    const { folding } = this.#fold(records, false);
    this.#changes = this.#changes.slice(folding.changes);
    this.#mutations = this.#mutations.slice(folding.mutations);
    this.bytes = [...this.#changes, ...this.#mutations].reduce((sum, { size }) => sum + size, 0);
    this.#before = new Folding(this.key, folding);
    this.#live = undefined;
  }
}
