/** The message of a caught value: `message` of an Error, otherwise the value as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
