import { BusSetupError as SetupError } from '../index.ts';

/** Retrying helps only with `BUS_UNREACHABLE`. */
export class BusSetupError extends SetupError<BusSetupCode> {}

export type BusSetupCode =
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  /** One side does not trust the other's certificate, or does not speak TLS. */
  | 'BUS_TLS'
  | 'BUS_FORBIDDEN'
  | 'BUS_SERVER_TOO_OLD'
  | 'BUS_NO_JETSTREAM'
  | 'BUS_STREAM_MISMATCH'
  /** The streams belong to a fleet with a different partition count. */
  | 'BUS_OTHER_PARTITIONS'
  | 'BUS_STREAM_REFUSED';
