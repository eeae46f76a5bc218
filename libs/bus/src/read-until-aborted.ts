import type { PartitionReader } from './bus.ts';

/** Lets `work` read until `signal` aborts: the reader is closed then, at once if it has aborted already, and after `work`. */
export async function readUntilAborted<T>(
  reader: PartitionReader,
  signal: AbortSignal,
  work: (reader: PartitionReader) => Promise<T>,
): Promise<T> {
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    return await work(reader);
  } finally {
    signal.removeEventListener('abort', close);
    reader.close();
  }
}
