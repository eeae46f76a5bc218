export type { WritableCluster } from './lane-worker.ts';
export { defaultRetry, type RetryOptions } from './retrying.ts';
export { Semaphore } from './semaphore.ts';
export { runWriter, type WriterOptions } from './writer.ts';
