/** An error response, with a hint what to do about it, and when to try again. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly hint: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, hint?: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.hint = hint;
    this.retryAfter = retryAfter;
  }
}
