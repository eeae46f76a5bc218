import {
  type AppendedOffsets,
  type BusLimits,
  type BusRecord,
  type Delivery,
  LogBus,
  LogTruncatedError,
  PartitionLog,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import { type Clock, sleep } from '@sluice/platform';

export interface DiscardingBusOptions {
  readonly partitions: number;
  readonly limits: BusLimits;
  /** Size of a partition; the oldest records are dropped, read or not. */
  readonly partitionBytes: number;
  /** How fast a reader of `changes` reads. */
  readonly bytesPerSecond: number;
  readonly clock: Clock;
}

/** A bus with the limits of a NATS stream or a Kafka topic, and a reader that is slow. */
export class DiscardingBus extends LogBus<DiscardingLog> {
  readonly #options: DiscardingBusOptions;

  constructor(options: DiscardingBusOptions) {
    super(options.partitions, () => new DiscardingLog(options.partitionBytes), options.limits);
    this.#options = options;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    await sleep(this.#options.clock, 1);
    this.openLog(topic, partition).append(records);
    return undefined;
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const { bytesPerSecond, clock } = this.#options;
    const reader = super.read(topic, partition, after);
    if (topic !== 'changes') return reader;
    return {
      streamId: reader.streamId,
      async next(max) {
        const records = await reader.next(max);
        const bytes = records.reduce((sum, { payload }) => sum + payload.length, 0);
        await sleep(clock, (bytes / bytesPerSecond) * 1_000);
        return records;
      },
      release: (offset) => reader.release(offset),
      close: () => reader.close(),
    };
  }
}

export class DiscardingLog extends PartitionLog {
  readonly streamId = 'log';
  readonly #maxBytes: number;
  #records: Delivery[] = [];
  #bytes = 0;
  #last = 0;
  #lastId = '';

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  append(records: readonly BusRecord[]): void {
    for (const { key, id, headers, payload } of records) {
      this.#last += 1;
      this.#lastId = id;
      this.#bytes += payload.length;
      this.#records.push({ key, id, headers, payload, offset: this.#last });
    }
    let dropped = 0;
    while (this.#bytes > this.#maxBytes) this.#bytes -= this.#records[dropped++]?.payload.length ?? 0;
    this.#records.splice(0, dropped);
    this.changed();
  }

  beginning(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.streamId };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.streamId };
  }

  after({ offset }: StreamOffset, max: number): readonly Delivery[] {
    const first = this.#records[0]?.offset ?? this.#last + 1;
    if (first > offset + 1) throw new LogTruncatedError(`records after offset ${offset} are gone`);
    return this.#records.slice(offset + 1 - first, offset + 1 - first + max);
  }

  release(): void {}
}
