export type { CompetingWrite } from './apply/find-competing-write.ts';
export { defaultRetry, type RetryOptions } from './apply/retry.ts';
export { type RequestLimit, unlimited } from './apply/schedule-requests.ts';
export { heldBackReason } from './mass-removal/confirm-removal.ts';
export {
  MassRemovalGuard,
  type MassRemovalGuardOptions,
  type RemovalCheck,
} from './mass-removal/mass-removal-guard.ts';
export type { PlanPartitionWorkerOptions } from './partition/plan-partition-worker-options.ts';
export { runPlanPartition, runWriter, type WriterOptions } from './run-writer.ts';
export { AdaptiveLimit, type AdaptiveLimitOptions } from './scheduling/adaptive-limit.ts';
export type { CompetingControllerDetection, WritableCluster } from './writable-cluster.ts';
