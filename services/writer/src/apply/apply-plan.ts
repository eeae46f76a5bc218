import type { PlannedMutations } from '@sluice/messages';
import { confirmRemoval } from '../mass-removal/confirm-removal.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { type ApplyResult, applyMutations } from './apply-mutations.ts';
import { findCompetingWrite } from './find-competing-write.ts';
import type { PlanRequests } from './plan-requests.ts';

export interface ApplyPlanOptions {
  readonly cluster: Pick<WritableCluster, 'massRemovalGuard' | 'competingControllers'>;
  readonly requests: PlanRequests;
  readonly partition: number;
  readonly requestSignal: AbortSignal;
}

/** Applies a plan, unless the mass-removal guard asks for confirmation and the cluster refutes the removal. */
export async function applyPlan(
  plan: PlannedMutations,
  { cluster, requests, partition, requestSignal }: ApplyPlanOptions,
): Promise<ApplyResult> {
  const { massRemovalGuard, competingControllers } = cluster;
  if (massRemovalGuard?.requiresConfirmation(plan, partition)) {
    const heldBack = await confirmRemoval(plan, massRemovalGuard, requests.ownIdentity, requestSignal);
    if (heldBack !== undefined) return heldBack;
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
