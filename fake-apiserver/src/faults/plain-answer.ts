/** An answer that is none of an API server: of a proxy without a backend, for example. */
export class PlainAnswer extends Error {
  override readonly name = 'PlainAnswer';
  readonly code = 'PLAIN_ANSWER';
  /** HTTP status. */
  readonly status: number;

  constructor(status: number) {
    super(`default backend - ${status}`);
    this.status = status;
  }
}

export const isPlainAnswer = (error: unknown): error is PlainAnswer =>
  error instanceof Error && 'code' in error && error.code === 'PLAIN_ANSWER';
