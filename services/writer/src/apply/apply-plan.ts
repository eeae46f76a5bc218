import type { ClusterWriter } from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import { confirmRemoval } from '../mass-removal/confirm-removal.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { type ApplyResult, applyMutations } from './apply-mutations.ts';
import { findCompetingWrite } from './find-competing-write.ts';
import type { Retry } from './retry.ts';
import { type WithdrawableWriterOptions, withdrawableWriter } from './withdrawable-writer.ts';

export interface ApplyPlanOptions extends Omit<WithdrawableWriterOptions, 'writer' | 'limit'> {
  readonly cluster: WritableCluster;
  /** The cluster's writer, with tracing and fencing for this plan. */
  readonly writer: ClusterWriter;
  readonly partition: number;
  readonly retry: Retry;
}

/** Applies a plan, unless the mass-removal guard asks for confirmation and the cluster refutes the removal. */
export async function applyPlan(plan: PlannedMutations, options: ApplyPlanOptions): Promise<ApplyResult> {
  const { cluster, partition, retry, requestSignal } = options;
  const { limit, massRemovalGuard, competingControllers } = cluster;
  // Reads do not count as started: the plan can still be withdrawn after them.
  const readingWriter = () => withdrawableWriter({ ...options, limit });
  if (massRemovalGuard?.requiresConfirmation(plan, partition)) {
    const heldBack = await confirmRemoval(plan, massRemovalGuard, readingWriter(), retry, requestSignal);
    if (heldBack !== undefined) return heldBack;
  }
  if (plan.consecutiveRepairs !== undefined && competingControllers !== undefined) {
    const write = await findCompetingWrite(plan, readingWriter(), competingControllers.ownManager, requestSignal);
    if (write !== undefined) competingControllers.onCompetingWrite(plan, write);
  }
  return applyMutations(plan, withdrawableWriter({ ...options, limit }), retry, requestSignal);
}
