import type { PlannedMutations } from '@sluice/messages';
import { confirmAddition, confirmRemoval } from '../confirmation/confirm-change.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { type ApplyResult, applyMutations } from './apply-mutations.ts';
import { findCompetingWrite } from './find-competing-write.ts';
import type { PlanRequests } from './plan-requests.ts';

export interface ApplyPlanOptions {
  readonly cluster: Pick<WritableCluster, 'massRemovalGuard' | 'massAdditionGuard' | 'competingControllers'>;
  readonly requests: PlanRequests;
  readonly partition: number;
  readonly requestSignal: AbortSignal;
}

/** Applies a plan, unless one of the guards asks for confirmation and the cluster refutes the change. */
export async function applyPlan(
  plan: PlannedMutations,
  { cluster, requests, partition, requestSignal }: ApplyPlanOptions,
): Promise<ApplyResult> {
  const { massRemovalGuard, massAdditionGuard, competingControllers } = cluster;
  // Both count each plan, also one that the other holds back.
  const removes = massRemovalGuard?.requiresConfirmation(plan, partition) === true;
  const adds = massAdditionGuard?.requiresConfirmation(plan, partition) === true;
  const heldBack =
    (removes ? await confirmRemoval(plan, massRemovalGuard, requests.ownIdentity(), requestSignal) : undefined) ??
    (adds ? await confirmAddition(plan, massAdditionGuard, requests.ownIdentity(), requestSignal) : undefined);
  if (heldBack !== undefined) {
    // Reachable: plan held back by a guard
    return heldBack;
  }
  if (plan.consecutiveRepairs !== undefined && competingControllers !== undefined) {
    const write = await findCompetingWrite(plan, requests.once(), competingControllers.ownManager, requestSignal);
    if (write !== undefined) competingControllers.onCompetingWrite(plan, write);
  }
  const result = await applyMutations(plan, requests.retried, requestSignal);
  if (result.status === 'conflict' && competingControllers?.investigatesConflict?.() === true) {
    const write = await findCompetingWrite(plan, requests.once(), competingControllers.ownManager, requestSignal);
    if (write?.manager !== undefined) competingControllers.onConflict?.(plan, write);
  }
  return result;
}
