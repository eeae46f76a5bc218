export type { LaneWorkerOptions, WritableCluster } from './lane-worker.ts';
export { meteredWriter, type OnAnswer } from './metered-writer.ts';
export { defaultRetry, type RetryOptions } from './retrying.ts';
export { Semaphore } from './semaphore.ts';
export { runWriter, type WriterOptions, workLane } from './writer.ts';
