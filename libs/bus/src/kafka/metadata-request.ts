import { createDecoder, createEncoder, type Decoder, type Encoder, type ProtocolRequest } from './kafkajs-internals.ts';
import { readCompactArray, skipTaggedFields, topicIdBytes, writeNoTaggedFields } from './protocol.ts';

interface ClusterMetadata {
  readonly brokers: readonly BrokerAddress[];
  readonly topics: readonly TopicMetadata[];
}

export interface BrokerAddress {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface TopicMetadata {
  readonly name: string;
  readonly errorCode: number;
  /** Changes when the topic is deleted and created again. */
  readonly id: string;
  readonly partitions: readonly PartitionMetadata[];
}

interface PartitionMetadata {
  readonly errorCode: number;
  readonly partition: number;
  /** Node id, or -1 while the partition has no leader. */
  readonly leader: number;
}

/** Metadata v10 is the first version with topic ids. kafkajs supports versions up to v6. */
export function metadataRequest(topics: readonly string[]): ProtocolRequest<ClusterMetadata> {
  return {
    request: { apiKey: 3, apiVersion: 10, apiName: 'Metadata', encode: async () => encode(topics) },
    response: { decode: async (payload) => decode(payload), parse: async (metadata) => metadata },
  };
}

function encode(topics: readonly string[]): Encoder {
  const encoder = writeNoTaggedFields(createEncoder()).writeUVarInt(topics.length + 1);
  for (const name of topics) {
    encoder.writeBufferInternal(Buffer.alloc(topicIdBytes));
    writeNoTaggedFields(encoder.writeUVarIntString(name));
  }
  // Do not create topics or list authorized operations.
  return writeNoTaggedFields(encoder.writeInt8(0).writeInt8(0).writeInt8(0));
}

function decode(payload: Buffer): ClusterMetadata {
  const decoder = createDecoder(payload);
  skipTaggedFields(decoder);
  decoder.readInt32(); // throttle time
  const brokers = readCompactArray(decoder, readBroker);
  decoder.readUVarIntString(); // cluster id
  decoder.readInt32(); // controller
  return { brokers, topics: readCompactArray(decoder, readTopic) };
}

function readBroker(decoder: Decoder): BrokerAddress {
  const nodeId = decoder.readInt32();
  const host = decoder.readUVarIntString() ?? '';
  const port = decoder.readInt32();
  decoder.readUVarIntString(); // rack
  skipTaggedFields(decoder);
  return { nodeId, host, port };
}

function readTopic(decoder: Decoder): TopicMetadata {
  const errorCode = decoder.readInt16();
  const name = decoder.readUVarIntString() ?? '';
  const id = decoder.readBytes(topicIdBytes).toString('hex');
  decoder.readInt8(); // internal
  const partitions = readCompactArray(decoder, readPartition);
  decoder.readInt32(); // authorized operations
  skipTaggedFields(decoder);
  return { name, errorCode, id, partitions };
}

function readPartition(decoder: Decoder): PartitionMetadata {
  const errorCode = decoder.readInt16();
  const partition = decoder.readInt32();
  const leader = decoder.readInt32();
  decoder.readInt32(); // leader epoch
  for (let list = 0; list < 3; list++) readCompactArray(decoder, (each) => each.readInt32()); // replicas, in-sync, offline
  skipTaggedFields(decoder);
  return { errorCode, partition, leader };
}
