import type { AppendedOffsets, BusRecord, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { LocalReader } from './local-reader.ts';

/**
 * A bus that delivers plans within this process while the log stores them, instead of reading them from the log. It does so in
 * partitions of `mutations` that this process reads, and of which it is the only producer, from the first plan that it has read
 * back. In all others records come from the log.
 */
export class LocalDeliveryBus extends ForwardingBus {
  readonly #partitions = new Map<number, LocalPartition>();

  override append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const store = () => this.inner.append(topic, partition, records);
    if (topic !== 'mutations') return store();
    return this.#partition(partition).append(records, this.limits.recordBytes, store);
  }

  override produceExclusively(topic: Topic, partition: number): () => void {
    const leave = super.produceExclusively(topic, partition);
    if (topic !== 'mutations') return leave;
    const stop = this.#partition(partition).produce();
    return () => {
      stop();
      leave();
    };
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const open = (from: StreamOffset) => this.inner.read(topic, partition, from);
    return topic === 'mutations' ? this.#partition(partition).read(open, after) : open(after);
  }

  #partition(partition: number): LocalPartition {
    let local = this.#partitions.get(partition);
    if (local === undefined) {
      local = new LocalPartition();
      this.#partitions.set(partition, local);
    }
    return local;
  }
}

/** What this process produces and reads in one partition. */
class LocalPartition {
  #producers = 0;
  /** Appends in flight. A reader that is opened meanwhile gets their records from the log. */
  #appending = 0;
  /** Offset of the last record that the only producer has appended. */
  #end: number | undefined;
  #reader: LocalReader | undefined;

  produce(): () => void {
    this.#producers += 1;
    let stopped = false;
    return () => {
      if (stopped) return;
      stopped = true;
      this.#producers -= 1;
      this.#end = undefined;
      void this.#reader?.stopLocal();
    };
  }

  read(open: (after: StreamOffset) => PartitionReader, after: StreamOffset): PartitionReader {
    void this.#reader?.stopLocal();
    const reader: LocalReader = new LocalReader({
      ...{ open, after },
      onRead: () => this.#maybeStartLocal(),
      onClose: () => {
        if (this.#reader === reader) this.#reader = undefined;
      },
    });
    this.#reader = reader;
    return reader;
  }

  async append(
    records: readonly BusRecord[],
    maxBytes: number,
    store: () => Promise<AppendedOffsets>,
  ): Promise<AppendedOffsets> {
    const reader = this.#reader;
    this.#appending += 1;
    try {
      const offsets = await (reader?.isLocal ? reader.deliver(records, maxBytes, store()) : store());
      if (this.#producers > 0) this.#end = offsets?.at(-1);
      return offsets;
    } finally {
      this.#appending -= 1;
      this.#maybeStartLocal();
    }
  }

  /** Once the reader has read back the last record of the only producer, there is nothing more to come from the log. */
  #maybeStartLocal(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#producers !== 1 || this.#appending > 0 || this.#end === undefined) return;
    if (!reader.isLocal && reader.offset >= this.#end) reader.startLocal();
  }
}
