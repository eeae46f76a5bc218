import {
  type AppendedOffsets,
  appendAcceptable,
  type BusLimits,
  type BusRecord,
  type Delivery,
  LogBus,
  LogTruncatedError,
  oversizedPayload,
  PartitionLog,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import type { SimulatedBus, SimulatedLog } from './simulated-bus.ts';

/** A bus whose logs can lose records or be recreated, as on servers. */
export class LossyBus extends LogBus<LossyLog> implements SimulatedBus {
  readonly #dropsRepeated: boolean;

  /**
   * `dropsRepeated`: ignores records whose id is already in the log, as JetStream does. `dropsReleased`: deletes records
   * as soon as a reader releases them.
   */
  constructor(
    partitions: number,
    { dropsRepeated, dropsReleased }: { readonly dropsRepeated: boolean; readonly dropsReleased: boolean },
    limits?: BusLimits,
  ) {
    super(partitions, () => new LossyLog(dropsReleased), limits);
    this.#dropsRepeated = dropsRepeated;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const log = this.openLog(topic, partition);
    return await appendAcceptable(records, oversizedPayload(this.limits.recordBytes), async (accepted) =>
      log.append(accepted, this.#dropsRepeated),
    );
  }
}

/** One partition of a topic. */
export class LossyLog extends PartitionLog implements SimulatedLog {
  #generation = 1;
  #records: Delivery[] = [];
  /** Everything that was ever appended. */
  readonly appended: Delivery[] = [];
  /** Offset of the last record with an id. */
  readonly #ids = new Map<string, number>();
  #last = 0;
  #lastId = '';
  #maxBytes = Number.POSITIVE_INFINITY;
  readonly #dropsReleased: boolean;

  constructor(dropsReleased: boolean) {
    super();
    this.#dropsReleased = dropsReleased;
  }

  append(records: readonly BusRecord[], dropsRepeated: boolean): readonly number[] {
    const offsets = records.map(({ key, id, headers, payload }) => {
      const repeated = dropsRepeated ? this.#ids.get(id) : undefined;
      if (repeated !== undefined) return repeated;
      this.#last += 1;
      this.#ids.set(id, this.#last);
      this.#lastId = id;
      const delivery = { key, id, headers, payload, offset: this.#last };
      this.#records.push(delivery);
      this.appended.push(delivery);
      return this.#last;
    });
    this.#discard();
    this.changed();
    return offsets;
  }

  get streamId(): string {
    return `log-${this.#generation}`;
  }

  beginning(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.streamId };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.streamId };
  }

  get last(): Delivery | undefined {
    return this.#records.at(-1);
  }

  get size(): number {
    return this.#records.length;
  }

  purge(): void {
    this.#records = [];
    this.changed();
  }

  recreate(): void {
    this.#generation += 1;
    this.#records = [];
    this.#ids.clear();
    this.#last = 0;
    this.#lastId = '';
    this.changed();
  }

  startAt(offset: number): void {
    this.#last = offset;
  }

  limitBytes(bytes = Number.POSITIVE_INFINITY): void {
    this.#maxBytes = bytes;
    this.#discard();
    this.changed();
  }

  #discard(): void {
    let bytes = 0;
    const kept = this.#records.findLastIndex(({ payload }, i) => {
      bytes += payload.length;
      return bytes > this.#maxBytes && i < this.#records.length - 1;
    });
    if (kept >= 0) this.#records = this.#records.slice(kept + 1);
  }

  loseLast(count: number): void {
    const lost = Math.min(count, this.#records.length);
    if (lost === 0) return;
    for (const { id } of this.#records.slice(-lost)) this.#ids.delete(id);
    this.#records = this.#records.slice(0, -lost);
    this.#last -= lost;
    this.#lastId = this.#records.at(-1)?.id ?? '';
    this.changed();
  }

  after({ offset, id, streamId }: StreamOffset, max: number): readonly Delivery[] {
    const first = this.#records[0]?.offset ?? this.#last + 1;
    if (streamId !== '' && streamId !== this.streamId)
      throw new LogTruncatedError(`${streamId} is now ${this.streamId}`);
    if (offset > this.#last) throw new LogTruncatedError(`offset ${offset} is past the end ${this.#last}`);
    if (first > offset + 1) throw new LogTruncatedError(`records after ${offset} are lost; the log begins at ${first}`);
    const here = this.#records[offset - first];
    if (here !== undefined && here.id !== id) throw new LogTruncatedError(`at ${offset} is ${here.id}, not ${id}`);
    const records = this.#records.slice(offset + 1 - first, offset + 1 - first + max);
    return records;
  }

  release(offset: number): void {
    if (!this.#dropsReleased) return;
    const kept = this.#records.findIndex((record) => record.offset > offset);
    this.#records = kept === -1 ? [] : this.#records.slice(kept);
  }
}
