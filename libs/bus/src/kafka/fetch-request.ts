import {
  createDecoder,
  createEncoder,
  type Decoder,
  decodeRecordBatch,
  type Encoder,
  type ProtocolRequest,
  type WireRecord,
} from './kafkajs-internals.ts';
import {
  readCompactArray,
  readCompactLength,
  skipTaggedFields,
  topicIdBytes,
  writeNoTaggedFields,
} from './protocol.ts';

interface FetchOptions {
  /** How long the broker waits if it has no records. */
  readonly maxWaitMs: number;
  /** Limit of the response. The broker returns the first batch whole even if it is larger. */
  readonly maxBytes: number;
  readonly partitionMaxBytes: number;
}

export interface FetchPartition {
  readonly topicId: string;
  readonly partition: number;
  /** Kafka's offset of the first record wanted. */
  readonly fetchOffset: number;
}

interface FetchedPartition {
  readonly topicId: string;
  readonly partition: number;
  readonly errorCode: number;
  /** Whole batches: the first may begin before the fetch offset. */
  readonly records: readonly WireRecord[];
}

/**
 * Fetch v13 is the first version that identifies topics by id, so a topic that was deleted and created again is never read
 * in place of the old one. kafkajs supports versions up to v11.
 */
export function fetchRequest(
  options: FetchOptions,
  partitions: readonly FetchPartition[],
): ProtocolRequest<readonly FetchedPartition[]> {
  return {
    request: { apiKey: 1, apiVersion: 13, apiName: 'Fetch', encode: async () => encode(options, partitions) },
    response: { decode, parse: async (fetched) => fetched },
  };
}

function encode(options: FetchOptions, partitions: readonly FetchPartition[]): Encoder {
  const topics = Map.groupBy(partitions, ({ topicId }) => topicId);
  const encoder = writeNoTaggedFields(createEncoder())
    .writeInt32(-1) // a client, not a replica
    .writeInt32(options.maxWaitMs)
    .writeInt32(1) // minimum bytes
    .writeInt32(options.maxBytes)
    .writeInt8(0) // isolation level: read uncommitted
    .writeInt32(0) // no fetch session
    .writeInt32(-1)
    .writeUVarInt(topics.size + 1);
  for (const [topicId, ofTopic] of topics) {
    encoder.writeBufferInternal(Buffer.from(topicId, 'hex'));
    encoder.writeUVarInt(ofTopic.length + 1);
    for (const { partition, fetchOffset } of ofTopic) {
      encoder
        .writeInt32(partition)
        .writeInt32(-1) // leader epoch: not checked
        .writeInt64(fetchOffset)
        .writeInt32(-1) // leader epoch of the last fetched record: not checked
        .writeInt64(-1) // log start offset: replicas only
        .writeInt32(options.partitionMaxBytes);
      writeNoTaggedFields(encoder);
    }
    writeNoTaggedFields(encoder);
  }
  return writeNoTaggedFields(encoder.writeUVarInt(1).writeUVarIntString('')); // no forgotten topics, no rack
}

async function decode(payload: Buffer): Promise<readonly FetchedPartition[]> {
  const decoder = createDecoder(payload);
  skipTaggedFields(decoder);
  decoder.readInt32(); // throttle time
  const failure = decoder.readInt16();
  decoder.readInt32(); // fetch session
  const topics = readCompactArray(decoder, (each) => {
    const topicId = each.readBytes(topicIdBytes).toString('hex');
    const partitions = readCompactArray(each, readPartition);
    skipTaggedFields(each);
    return { topicId, partitions };
  });
  const all: FetchedPartition[] = [];
  for (const { topicId, partitions } of topics) {
    for (const { partition, errorCode, batches } of partitions) {
      all.push({ topicId, partition, errorCode: errorCode || failure, records: await decodeBatches(batches) });
    }
  }
  return all;
}

function readPartition(decoder: Decoder) {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  decoder.readInt64(); // high watermark
  decoder.readInt64(); // last stable offset
  decoder.readInt64(); // log start offset
  readCompactArray(decoder, (each) => {
    each.readInt64();
    each.readInt64();
    skipTaggedFields(each);
  }); // aborted transactions
  decoder.readInt32(); // preferred replica
  const batches = decoder.readBytes(readCompactLength(decoder));
  skipTaggedFields(decoder);
  return { partition, errorCode, batches };
}

/** Size of a batch's base offset and length, which the length does not include. */
const batchPrefix = 12;

/** Ignores an incomplete last batch: the broker cuts it off at the size limit and returns it again. */
async function decodeBatches(batches: Buffer): Promise<readonly WireRecord[]> {
  const decoder = createDecoder(batches);
  const all: WireRecord[] = [];
  while (decoder.canReadBytes(batchPrefix)) {
    const length = batches.readInt32BE(decoder.offset + 8);
    if (!decoder.canReadBytes(batchPrefix + length)) break;
    for (const record of (await decodeRecordBatch(decoder)).records) all.push(record);
  }
  return all;
}
