import {
  decodeProduceResponse,
  encodeProduceRequest,
  type ProducedBatch,
  type ProduceResponse,
  type ProtocolRequest,
} from './kafkajs-internals.ts';
import type { PartitionQueue } from './partition-queue.ts';

/** All in-sync replicas must have the batch. */
const acks = -1;
/** How long the leader waits for them, in milliseconds. */
const timeout = 5_000;

/**
 * The response is the error code and the offset of each batch, by `topic/partition`. The parser that kafkajs has turns the error
 * of one partition into a failure of all.
 */
export function produceRequest(queues: readonly PartitionQueue[]): ProtocolRequest<ReadonlyMap<string, ProducedBatch>> {
  const topicData = [...Map.groupBy(queues, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map((queue) => ({ partition: queue.partition, messages: queue.batch()?.messages ?? [] })),
  }));
  return {
    request: encodeProduceRequest({ acks, timeout, topicData }),
    response: {
      decode: async (payload) => producedBatches(await decodeProduceResponse(payload)),
      parse: async (batches) => batches,
    },
  };
}

function producedBatches({ topics }: ProduceResponse): ReadonlyMap<string, ProducedBatch> {
  return new Map(
    topics.flatMap(({ topicName, partitions }) =>
      partitions.map((batch) => [`${topicName}/${batch.partition}`, batch] as const),
    ),
  );
}
