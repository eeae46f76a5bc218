import type { Brokers } from './brokers.ts';

/** The log of a partition holds Kafka's offsets from `logStart` to before `highWatermark`. */
export interface OffsetRange {
  readonly logStart: number;
  readonly highWatermark: number;
}

/** Rejects while a new leader does not know its high watermark yet. */
export async function listOffsets(
  brokers: Brokers,
  leader: number,
  topic: string,
  partition: number,
): Promise<OffsetRange> {
  const [logStart, highWatermark] = await Promise.all([
    brokers.listOffset(leader, topic, partition, '-2'),
    brokers.listOffset(leader, topic, partition, '-1'),
  ]);
  return { logStart, highWatermark };
}
