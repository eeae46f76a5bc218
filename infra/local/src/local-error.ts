/** A problem with the local servers. The message is for the terminal. */
export class LocalError extends Error {
  override readonly name = 'LocalError';
  /**
   * Stable: `go-missing`, `go-too-old`, `build-failed`, `openssl`, `redis-missing`, `exited`, `not-ready`,
   * `java-missing`, `java-too-old`, `maven-missing`, `download-failed`, `kubectl`, `usage`.
   */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
