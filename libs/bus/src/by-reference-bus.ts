import type { AppendedOffsets, BusRecord, Delivery, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';

/**
 * Records kept per partition until its reader returns them. A reader that is further behind decodes the payload as it does for
 * records of other processes.
 */
const maxKept = 256;

/**
 * A bus that delivers records which this process has appended itself with their message, so that readers need not decode and
 * validate them (ADR 0028). Order, offsets and content are those of the log: a record gets its message when it arrives with the
 * same payload.
 */
export class ByReferenceBus extends ForwardingBus {
  /** Appended records by id, for each partition that this process reads. */
  readonly #appended = new Map<string, Map<string, BusRecord>>();

  override append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const kept = this.#appended.get(nameOf(topic, partition));
    if (kept !== undefined) for (const record of records) keep(kept, record);
    return this.inner.append(topic, partition, records);
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const name = nameOf(topic, partition);
    const reader = this.inner.read(topic, partition, after);
    const kept = new Map<string, BusRecord>();
    this.#appended.set(name, kept);
    return {
      next: async (max) => (await reader.next(max)).map((delivery) => withMessage(delivery, kept)),
      get streamId() {
        return reader.streamId;
      },
      release: (offset) => reader.release(offset),
      close: () => {
        // The next reader of the partition may be open already.
        if (this.#appended.get(name) === kept) this.#appended.delete(name);
        reader.close();
      },
    };
  }
}

const nameOf = (topic: Topic, partition: number) => `${topic}/${partition}`;

function keep(kept: Map<string, BusRecord>, record: BusRecord): void {
  if (record.message === undefined) return;
  kept.delete(record.id);
  kept.set(record.id, record);
  if (kept.size <= maxKept) return;
  const [oldest = ''] = kept.keys();
  kept.delete(oldest);
}

function withMessage(delivery: Delivery, kept: Map<string, BusRecord>): Delivery {
  const own = kept.get(delivery.id);
  if (own === undefined || own.key !== delivery.key) return delivery;
  kept.delete(delivery.id);
  return Buffer.compare(own.payload, delivery.payload) === 0 ? { ...delivery, message: own.message } : delivery;
}
