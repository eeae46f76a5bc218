/** `changes` holds Change and Outcome, `mutations` holds PlannedMutations. */
export type Topic = 'changes' | 'mutations';

export interface BusRecord {
  /** Formatted service key; all records of one key are in one partition. */
  readonly key: string;
  /** Names the record for good: publishing it again after a doubtful answer uses the same id. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

export interface Delivery extends BusRecord {
  /** Rises by at least one from record to record of a partition; the first is 1. */
  readonly position: number;
}

/**
 * The message bus, as a port: two topics of ordered, partitioned logs.
 *
 * - `append` resolves when the records are kept as safely as the bus keeps anything. Records of one call keep their
 *   order, as do calls for one partition that are awaited one after the other. It may wait while readers are far behind
 *   (backpressure). It rejects only with BusClosedError or what cannot be mended by trying again.
 * - A record may be delivered more than once; the first deliveries of a partition come in order.
 * - Reading starts after a position, which the reader remembers itself: there are no acknowledgements. A bus that keeps
 *   records only as long as they are needed goes by `release`.
 */
export interface Bus {
  readonly partitions: number;
  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void>;
  read(topic: Topic, partition: number, after: number): PartitionReader;
  close(): Promise<void>;
}

export interface PartitionReader {
  /** Waits for at least one record and returns up to `max`; an empty list once closed. One call at a time. */
  next(max: number): Promise<readonly Delivery[]>;
  /**
   * Nothing up to this position will be asked for again: what it led to is stored. The bus may drop it, for other readers
   * too.
   */
  release(position: number): void;
  /** Idempotent. A waiting `next` returns an empty list. */
  close(): void;
}

export class BusClosedError extends Error {
  override readonly name = 'BusClosedError';
  readonly code = 'BUS_CLOSED';
}
