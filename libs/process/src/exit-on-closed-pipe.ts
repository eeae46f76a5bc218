/**
 * Exits quietly once the reader of standard output or standard error has closed its end of a pipe, as in `... | head -1`. A
 * process that handles SIGTERM shuts down in order.
 */
export function exitOnClosedPipe(): void {
  let stopping = false;
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stopping) return;
    stopping = true;
    if (process.listenerCount('SIGTERM') > 0) process.emit('SIGTERM', 'SIGTERM');
    else process.exit();
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
