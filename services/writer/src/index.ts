export { AdaptiveLimit, type AdaptiveLimitOptions } from './adaptive-limit.ts';
export type { LaneWorkerOptions, WritableCluster } from './lane-worker.ts';
export { meteredWriter, type OnAnswer } from './metered-writer.ts';
export { defaultRetry, type RetryOptions } from './retrying.ts';
export { type RequestLimit, unlimited } from './sending.ts';
export { runWriter, type WriterOptions, workLane } from './writer.ts';
