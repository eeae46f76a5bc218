/** What the user gave cannot be used. The message says what, where and what to do; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && 'code' in error && error.code === 'USAGE';
}
