/** For suites that compare each with a model. */
export { DelayingQueue } from '../delaying-queue.ts';
export { GapDetector } from '../gap-detector.ts';
export { LivenessProbe } from '../liveness-probe.ts';
export { PendingResyncs } from '../pending-resyncs.ts';
