import type { Clock, Logger } from '@sluice/runtime';
import type { AppendedOffsets, Bus, BusRecord, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { splitRecord } from './chunk.ts';
import { ChunkAssembler } from './chunk-assembler.ts';
import { ChunkedReader } from './chunked-reader.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { appendAcceptable, isRecordRejectedError, oversizedPayload, RecordRejectedError } from './rejected-record.ts';

/** How long records wait for the next chunk of a message that began before them. */
const holdMs = 1_000;

/**
 * A bus that sends messages larger than a record in chunks and joins them for its readers (ADR 0028). A record of another
 * bus, or one that fits, passes unchanged.
 */
export class ChunkedBus extends ForwardingBus {
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(inner: Bus, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    super(inner);
    this.#clock = clock;
    this.#logger = logger;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const { recordBytes, messageBytes } = this.limits;
    if (recordBytes === Number.POSITIVE_INFINITY) return this.inner.append(topic, partition, records);
    return await appendAcceptable(records, oversizedPayload(messageBytes), async (accepted) => {
      const messages = accepted.map((record) => splitRecord(record, recordBytes));
      try {
        const offsets = await this.inner.append(topic, partition, messages.flat());
        return offsets && messageOffsets(messages, offsets);
      } catch (error) {
        if (!isRecordRejectedError(error)) throw error;
        throw new RecordRejectedError(error.message, messageOffsets(messages, error.offsets));
      }
    });
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const { messageBytes } = this.limits;
    const assembler = new ChunkAssembler({
      maxMessageBytes: messageBytes,
      holdMs,
      onDropped: (key, reason) => this.#logger.warn('dropping incomplete message', { topic, partition, key, reason }),
    });
    return new ChunkedReader(this.inner.read(topic, partition, after), assembler, this.#clock, messageBytes);
  }
}

/** The offset of each message of which all chunks have one: that of its last chunk. */
function messageOffsets(messages: readonly (readonly BusRecord[])[], offsets: readonly number[]): readonly number[] {
  let chunks = 0;
  return messages.flatMap(({ length }) => {
    chunks += length;
    const offset = offsets[chunks - 1];
    return offset === undefined ? [] : [offset];
  });
}
