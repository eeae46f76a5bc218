import type { PlannedMutations } from '@sluice/messages';
import { mayWrite } from '../may-write.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { type ApplyResult, applyMutations } from './apply-mutations.ts';
import { findCompetingWrite } from './find-competing-write.ts';
import type { PlanRequests } from './plan-requests.ts';

export interface ApplyPlanOptions {
  readonly cluster: Pick<WritableCluster, 'massChangeGuards' | 'competingControllers'>;
  readonly requests: PlanRequests;
  readonly partition: number;
  readonly requestSignal: AbortSignal;
}

/** Applies a plan, unless the cluster must confirm it and does not. */
export async function applyPlan(
  plan: PlannedMutations,
  { cluster, requests, partition, requestSignal }: ApplyPlanOptions,
): Promise<ApplyResult> {
  const { massChangeGuards, competingControllers } = cluster;
  const options = { massChangeGuards, partition, reads: () => requests.ownIdentity(), signal: requestSignal };
  const confirming = mayWrite.cluster.refuse(plan, options);
  // A plan that needs no confirmation takes its slot before a newer one can replace it.
  const heldBack = confirming === undefined ? undefined : await confirming;
  if (heldBack !== undefined) return heldBack;
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
