/** Every exit status of `sluice`; docs/reference/cli.md says what each means. */
export const exitStatus = { success: 0, failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/**
 * Invalid arguments, configuration or environment. The message says what is wrong, where, and what to do; the process
 * exits with status 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && 'code' in error && error.code === 'USAGE';
}
