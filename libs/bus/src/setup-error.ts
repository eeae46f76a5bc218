/**
 * The bus cannot be used as configured; the message is for the operator. Each adapter defines its codes and which of them
 * are worth a retry.
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
