import encodeRequest from 'kafkajs/src/protocol/requests/produce/v7/request.js';
import { decode } from 'kafkajs/src/protocol/requests/produce/v7/response.js';
import type { Lane } from './lane.ts';
import type { ProtocolRequest } from './protocol.ts';

/** All replicas that are in sync have to have it. */
const acks = -1;
/** For how long the leader waits for them. */
const timeout = 5_000;

/** The error code per `topic/partition`. kafkajs's own parser would turn one bad partition into a failure of all. */
export function produceRequest(lanes: readonly Lane[]): ProtocolRequest<ReadonlyMap<string, number>> {
  const topicData = [...Map.groupBy(lanes, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map((lane) => ({ partition: lane.partition, messages: lane.batch()?.messages ?? [] })),
  }));
  return {
    request: encodeRequest({ acks, timeout, topicData }),
    response: { decode: async (payload) => codes(await decode(payload)), parse: async (codes) => codes },
  };
}

function codes({ topics }: Awaited<ReturnType<typeof decode>>): ReadonlyMap<string, number> {
  return new Map(
    topics.flatMap(({ topicName, partitions }) =>
      partitions.map(({ partition, errorCode }) => [`${topicName}/${partition}`, errorCode] as const),
    ),
  );
}
