/**
 * Why a bus cannot be used as it is set up, in words for the operator. Each adapter has its codes; trying again helps only
 * where they say so.
 */
export class BusSetupError<Code extends string = string> extends Error {
  override readonly name = 'BusSetupError';
  readonly code: Code;

  constructor(code: Code, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function isBusSetupError(error: unknown): error is BusSetupError {
  return error instanceof Error && error.name === 'BusSetupError';
}
