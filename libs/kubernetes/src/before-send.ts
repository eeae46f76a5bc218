/**
 * Called right before a request is written to a connection, each time it is, which may be long after it was queued for one, for a
 * credential or for a claim. Throws if the request must not be sent any more; the request then fails with this error.
 */
export type BeforeSend = () => void;

/** Wraps what a BeforeSend threw, so that it is not taken for a failure of the connection. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

export function bothBeforeSend(first: BeforeSend | undefined, second: BeforeSend): BeforeSend {
  if (first === undefined) return second;
  return () => {
    first();
    second();
  };
}
