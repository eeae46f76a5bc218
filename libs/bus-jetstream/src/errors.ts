/**
 * Why the bus cannot be used as it is set up, in words for the operator. Trying again does not help, but for
 * `BUS_UNREACHABLE`.
 */
export class BusSetupError extends Error {
  override readonly name = 'BusSetupError';
  readonly code: BusSetupCode;

  constructor(code: BusSetupCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export type BusSetupCode =
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  | 'BUS_FORBIDDEN'
  | 'BUS_SERVER_TOO_OLD'
  | 'BUS_NO_JETSTREAM'
  | 'BUS_STREAM_MISFIT'
  | 'BUS_STREAM_REFUSED';
