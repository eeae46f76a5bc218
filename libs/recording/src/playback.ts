import { firstListMs } from './existing-services.ts';
import { type ObjectChange, RecordedObjects } from './recorded-objects.ts';
import type { KeyedRecord } from './recording-file.ts';
import type { RecordingReader } from './recording-reader.ts';
import { messageOf } from './records.ts';

/** The Kubernetes objects of a recording at a time, and their changes from then on. */
export class Playback {
  readonly #reader: RecordingReader;
  readonly #objects = new RecordedObjects();
  readonly #records: Generator<KeyedRecord>;
  #next: KeyedRecord | undefined;
  /** Gaps after which Services may be missing that were deleted meanwhile: when that is known. */
  readonly #checks: number[];
  /** The objects at the start. */
  readonly start: readonly ObjectChange[];

  /** `time`: in milliseconds since the Unix epoch. */
  constructor(reader: RecordingReader, time: number) {
    this.#reader = reader;
    const latest = new Map<string, ObjectChange>();
    for (const key of reader.servicesAt(time)) {
      const { records } = reader.records(key, { since: time, until: time, records: 1 });
      for (const record of records) {
        for (const change of this.#apply({ key, ...record })) latest.set(idOf(change), change);
      }
    }
    this.start = [...latest.values()].filter(({ object }) => object !== null);
    const gaps = reader.coverage().periods.map(({ from }) => from + 2 * firstListMs);
    this.#checks = gaps.filter((at) => at > time);
    this.#records = reader.recordsAfter(time);
    this.#next = this.#read();
  }

  /** What has changed until a time. */
  advance(time: number): readonly ObjectChange[] {
    const changes: ObjectChange[] = [];
    while (this.#next !== undefined && this.#next.receivedAt <= time) {
      changes.push(...this.#apply(this.#next));
      this.#next = this.#read();
    }
    while ((this.#checks[0] ?? Number.POSITIVE_INFINITY) <= time) {
      this.#checks.shift();
      const existing = new Set(this.#reader.servicesAt(time));
      for (const key of this.#objects.services) if (!existing.has(key)) changes.push(...this.#objects.remove(key));
    }
    return changes;
  }

  #read(): KeyedRecord | undefined {
    const { value, done } = this.#records.next();
    return done ? undefined : value;
  }

  #apply({ key, receivedAt, payload }: KeyedRecord): readonly ObjectChange[] {
    const message = messageOf({ payload });
    try {
      return message === undefined ? [] : this.#objects.apply(key, message, receivedAt);
    } catch {
      // The recorder has logged it.
      return [];
    }
  }
}

const idOf = ({ cluster, resource, namespace, name }: ObjectChange): string =>
  [cluster, resource, namespace, name].join('/');
