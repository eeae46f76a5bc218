import { BusSetupError as SetupError } from '../index.ts';

/** Retrying helps only with `BUS_UNREACHABLE` and `BUS_TOO_FEW_BROKERS`. */
export class BusSetupError extends SetupError<BusSetupCode> {}

export type BusSetupCode =
  /** Fewer brokers than the replication factor. May pass while brokers start. */
  | 'BUS_TOO_FEW_BROKERS'
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  /** One side does not trust the other's certificate, or does not speak TLS. */
  | 'BUS_TLS'
  /** A topic exists with other settings than configured. */
  | 'BUS_TOPIC_MISMATCH'
  /** The partition count of the topics differs. */
  | 'BUS_OTHER_PARTITIONS'
  /** Kafka refuses to create a topic or to show it. */
  | 'BUS_TOPIC_REFUSED';
