/** A question that was asked well and has no good answer. The message says what and what to do; the exit status is 1. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly code = 'ANSWER';
}

export function isAnswerError(error: unknown): error is AnswerError {
  return error instanceof Error && 'code' in error && error.code === 'ANSWER';
}
