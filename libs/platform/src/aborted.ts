/** Resolves when `signal` aborts, immediately if it already has; never rejects. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Settles with the promise, or resolves with 'aborted' once `signal` aborts. Leaves no listener, so that a signal that lives as
 * long as the process does not collect one from each call.
 */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  const ended = Promise.withResolvers<'aborted'>();
  const onAbort = () => ended.resolve('aborted');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
