import type { Brokers } from './brokers.ts';

/** The log of a partition holds the offsets from `earliest` to before `latest`. */
export interface OffsetRange {
  readonly earliest: number;
  readonly latest: number;
}

/** Rejects while a new leader does not know yet how far the log is kept safely. */
export async function listOffsets(
  brokers: Brokers,
  leader: number,
  topic: string,
  partition: number,
): Promise<OffsetRange> {
  const [earliest, latest] = await Promise.all([ask('-2'), ask('-1')]);
  return { earliest, latest };

  async function ask(timestamp: string): Promise<number> {
    const topics = [{ topic, partitions: [{ partition, timestamp }] }];
    const { responses } = await brokers.ask(leader, (broker) =>
      broker.listOffsets({ replicaId: -1, isolationLevel: 0, topics }),
    );
    return Number(responses[0]?.partitions[0]?.offset);
  }
}
