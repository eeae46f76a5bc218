/** An error response, with a hint what to do about it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}
