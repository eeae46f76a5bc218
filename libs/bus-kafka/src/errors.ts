import { BusSetupError as SetupError } from '@sluice/bus';

/** Trying again helps only with `BUS_UNREACHABLE` and `BUS_TOO_FEW_BROKERS`. */
export class BusSetupError extends SetupError<BusSetupCode> {}

export type BusSetupCode =
  /** Fewer than the replication factor; after a start or a pause of brokers it may pass. */
  | 'BUS_TOO_FEW_BROKERS'
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  /** One side does not trust the other's certificate, or does not speak TLS. */
  | 'BUS_TLS'
  /** A topic is there, but not as it has to be. */
  | 'BUS_TOPIC_MISFIT'
  /** Kafka does not make a topic, or does not let us see it. */
  | 'BUS_TOPIC_REFUSED';
