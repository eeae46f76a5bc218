/** A valid query without a result. The message says why and what to do; the exit status is 1. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code = 'QUERY';
}

export function isQueryError(error: unknown): error is QueryError {
  return error instanceof Error && 'code' in error && error.code === 'QUERY';
}
