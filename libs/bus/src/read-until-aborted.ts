import type { PartitionReader } from './bus.ts';

/** Runs `work` and closes `reader` when `signal` aborts or when `work` completes, whichever is first. */
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
