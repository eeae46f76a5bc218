export { AdaptiveLimit, type AdaptiveLimitOptions } from './adaptive-limit.ts';
export type { Contestant } from './find-contestant.ts';
export type { LaneWorkerOptions } from './lane-worker.ts';
export { meteredWriter, type OnAnswer } from './metered-writer.ts';
export { RemovalBrake, type RemovalBrakeOptions, type RemovalCheck } from './removal-brake.ts';
export { defaultRetry, type RetryOptions } from './retrying.ts';
export { type RequestLimit, unlimited } from './sending.ts';
export type { Contests, WritableCluster } from './writable-cluster.ts';
export { runWriter, type WriterOptions, workLane } from './writer.ts';
