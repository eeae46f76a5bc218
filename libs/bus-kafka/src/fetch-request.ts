import Decoder from 'kafkajs/src/protocol/decoder.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import decodeRecordBatch, { type WireRecord } from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import {
  type ProtocolRequest,
  readCompactArray,
  readCompactLength,
  skipTaggedFields,
  topicIdBytes,
  writeNoTaggedFields,
} from './protocol.ts';

export interface FetchOptions {
  /** How long the broker waits for a first record. */
  readonly maxWaitMs: number;
  /** Of the whole response; the first batch comes whole even if it is larger. */
  readonly maxBytes: number;
  readonly partitionMaxBytes: number;
}

export interface FetchPartition {
  readonly topicId: string;
  readonly partition: number;
  readonly offset: number;
}

export interface FetchedPartition {
  readonly topicId: string;
  readonly partition: number;
  readonly errorCode: number;
  /** Whole batches: the first may begin before the offset that was asked for. */
  readonly records: readonly WireRecord[];
}

/**
 * Fetch v13: the first version that names topics by id, so that a topic made anew is never read in place of the old one.
 * kafkajs ends at v11.
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
  const encoder = writeNoTaggedFields(new Encoder())
    .writeInt32(-1) // a client, not a replica
    .writeInt32(options.maxWaitMs)
    .writeInt32(1) // bytes that are worth a response
    .writeInt32(options.maxBytes)
    .writeInt8(0) // read uncommitted: there are no transactions
    .writeInt32(0) // no fetch session
    .writeInt32(-1)
    .writeUVarInt(topics.size + 1);
  for (const [topicId, ofTopic] of topics) {
    encoder.writeBufferInternal(Buffer.from(topicId, 'hex'));
    encoder.writeUVarInt(ofTopic.length + 1);
    for (const { partition, offset } of ofTopic) {
      encoder
        .writeInt32(partition)
        .writeInt32(-1) // leader epoch: not checked
        .writeInt64(offset)
        .writeInt32(-1) // epoch of the last record fetched: not checked
        .writeInt64(-1) // log start, of replicas only
        .writeInt32(options.partitionMaxBytes);
      writeNoTaggedFields(encoder);
    }
    writeNoTaggedFields(encoder);
  }
  return writeNoTaggedFields(encoder.writeUVarInt(1).writeUVarIntString('')); // nothing forgotten, no rack
}

async function decode(payload: Buffer): Promise<readonly FetchedPartition[]> {
  const decoder = new Decoder(payload);
  skipTaggedFields(decoder);
  decoder.readInt32(); // throttle time
  const failure = decoder.readInt16();
  decoder.readInt32(); // session
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
  decoder.readInt64(); // log start
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

/** Offset and length, which stand before what the length counts. */
const batchPrefix = 12;

/** The last batch may be cut off where the limit of bytes was reached: it comes again. */
async function decodeBatches(batches: Buffer): Promise<readonly WireRecord[]> {
  const decoder = new Decoder(batches);
  const all: WireRecord[] = [];
  while (decoder.canReadBytes(batchPrefix)) {
    const length = batches.readInt32BE(decoder.offset + 8);
    if (!decoder.canReadBytes(batchPrefix + length)) break;
    for (const record of (await decodeRecordBatch(decoder)).records) all.push(record);
  }
  return all;
}
