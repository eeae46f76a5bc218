import type { Topic } from '@sluice/bus';
import type { ServiceKey } from '@sluice/messages';
import type { ServiceMessage } from '@sluice/service-state';
import type { Entry } from '../view/entry-schemas.ts';
import type { HistoryState } from './history-state.ts';
import { type LogMessage, Replay } from './replay.ts';
import { type RetainedRecord, sizeOf } from './retained-record.ts';
import { WrittenContent } from './written-content.ts';

interface Replayed {
  readonly replay: Replay;
  readonly entries: Entry[];
  /** For each applied record, the time of the history after it. */
  readonly steps: number[];
}

/**
 * The history of one Service: its records as received, and the state before the first of them. Records are decoded and
 * applied on the first read.
 */
export class Journal {
  readonly key: ServiceKey;
  /** The partition of its last record; it changes with the number of partitions. */
  partition: number;
  /** Size of all records in memory, in bytes. */
  bytes = 0;
  /** When the last record was received; 0 if there is none. */
  lastReceivedAt = 0;
  /** Increases whenever the content may have changed. */
  version = 0;
  /** Undefined until records are dropped: of many Services, none are. */
  #before: Replay | undefined;
  readonly #written = new WrittenContent();
  /** What is included in `bytes` once, although several records have it. */
  #counted = new WeakSet<object>();
  #changes: RetainedRecord[] = [];
  #mutations: RetainedRecord[] = [];
  #live: Replayed | undefined;
  #hasDropped = false;

  constructor(key: ServiceKey, partition = 0) {
    this.key = key;
    this.partition = partition;
  }

  /** When the first of its records was received; later than any time if there is none. */
  get since(): number {
    const first = [this.#changes[0], this.#mutations[0]].map(
      (record) => record?.receivedAt ?? Number.POSITIVE_INFINITY,
    );
    return Math.min(...first);
  }

  add(topic: Topic, record: RetainedRecord): void {
    const retained = this.#written.share(record);
    (topic === 'changes' ? this.#changes : this.#mutations).push(retained);
    this.bytes += sizeOf(retained, this.#counted);
    this.version++;
    this.lastReceivedAt = record.receivedAt;
  }

  /** The current state. */
  get state(): HistoryState {
    return this.#replayed().replay.state;
  }

  /** In chronological order. */
  get entries(): readonly Entry[] {
    return this.#replayed().entries;
  }

  /** The state at that time. */
  stateAt(at: number): HistoryState {
    const { steps } = this.#replayed();
    const later = steps.findIndex((time) => time > at);
    return this.#replay(later < 0 ? steps.length : later).replay.stateAt(at);
  }

  /** What the log says of the Service, in the order in which it was applied. Complete: nothing earlier is missing. */
  get log(): { readonly isComplete: boolean; readonly messages: readonly ServiceMessage[] } {
    const messages: ServiceMessage[] = [];
    const onMessage = (message: LogMessage) => {
      // After a removal, the state begins again.
      if (message.kind === 'clusterRemoved') messages.length = 0;
      else messages.push(message);
    };
    this.#advance(this.#start({ isRead: false, onMessage }));
    const first = messages.find(({ kind }) => kind === 'change');
    const isComplete = !this.#hasDropped && first?.kind === 'change' && first.snapshot?.first === true;
    return { isComplete, messages };
  }

  /** Drops the older half of the records; their effect stays in the initial state. */
  halve(): void {
    this.#drop(Math.ceil((this.#changes.length + this.#mutations.length) / 2));
  }

  /** Drops records received before that time. */
  dropBefore(time: number): void {
    const count = (records: readonly RetainedRecord[]) => {
      const first = records.findIndex(({ receivedAt }) => receivedAt >= time);
      return first < 0 ? records.length : first;
    };
    this.#drop(count(this.#changes) + count(this.#mutations));
  }

  /** True if neither records nor objects are left. */
  get isEmpty(): boolean {
    return this.#changes.length + this.#mutations.length === 0 && (this.#before?.state.isEmpty ?? true);
  }

  get #records() {
    return { changes: this.#changes, mutations: this.#mutations };
  }

  #replayed(): Replayed {
    this.#live = this.#advance(this.#live ?? this.#start());
    if (this.#live.replay.isStale) this.#live = this.#replay(Number.POSITIVE_INFINITY);
    this.#live.replay.isStale = false;
    return this.#live;
  }

  #start(options: ConstructorParameters<typeof Replay>[2] = {}): Replayed {
    return { replay: new Replay(this.key, this.#before, options), entries: [], steps: [] };
  }

  #replay(steps: number): Replayed {
    return this.#advance(this.#start(), steps);
  }

  /** Applies records until `steps` are applied, or all. */
  #advance(replayed: Replayed, steps = Number.POSITIVE_INFINITY): Replayed {
    const { replay, entries } = replayed;
    while (replayed.steps.length < steps) {
      const next = replay.next(this.#records);
      if (next === null) break;
      entries.push(...next);
      replayed.steps.push(Math.max(replayed.steps.at(-1) ?? 0, replay.at));
    }
    return replayed;
  }

  #drop(records: number): void {
    if (records === 0) return;
    this.#hasDropped = true;
    this.version++;
    const { replay } = this.#advance(this.#start({ isRead: false, onlyLastPlans: true }), records);
    replay.end();
    this.#mutations = this.#mutations.slice(replay.mutations);
    this.#changes = this.#changes.slice(replay.changes);
    this.#written.forget();
    this.#counted = new WeakSet();
    this.bytes = [...this.#mutations, ...this.#changes].reduce((sum, one) => sum + sizeOf(one, this.#counted), 0);
    this.#before = new Replay(this.key, replay);
    this.#live = undefined;
  }
}
