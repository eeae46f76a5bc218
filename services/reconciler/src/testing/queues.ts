/** For suites that compare each with a model. */
export { DelayingQueue } from '../delaying-queue.ts';
export { GapDetector } from '../gap-detector.ts';
export { PendingResyncs } from '../pending-resyncs.ts';
export { LivenessProbe } from '../resync-requester.ts';
