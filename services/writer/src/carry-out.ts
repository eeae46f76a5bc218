import type { ClusterWriter } from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import { type Application, applyPlan } from './apply-plan.ts';
import { confirmRemoval } from './confirm-removal.ts';
import { findContestant } from './find-contestant.ts';
import type { Retrying } from './retrying.ts';
import { type SendingOptions, sending } from './sending.ts';
import type { WritableCluster } from './writable-cluster.ts';

export interface CarryOutOptions extends Omit<SendingOptions, 'writer' | 'limit'> {
  readonly cluster: WritableCluster;
  /** That of the cluster, with what this plan needs around it. */
  readonly writer: ClusterWriter;
  readonly lane: number;
  readonly retrying: Retrying;
}

/** Carries out a plan in its turn among those of its cluster, unless what it removes turns out to be there. */
export async function carryOut(plan: PlannedMutations, options: CarryOutOptions): Promise<Application> {
  const { cluster, lane, retrying, requests } = options;
  const { limit, brake, contests } = cluster;
  // A look is no beginning: the plan can still be taken back after it.
  const looking = () => sending({ ...options, limit });
  if (brake?.mustConfirm(plan, lane)) {
    const heldBack = await confirmRemoval(plan, brake, looking(), retrying, requests);
    if (heldBack !== undefined) return heldBack;
  }
  if (plan.consecutiveRepairs !== undefined && contests !== undefined) {
    const contestant = await findContestant(plan, looking(), contests.ownManager, requests);
    if (contestant !== undefined) contests.found(plan, contestant);
  }
  return applyPlan(plan, sending({ ...options, limit }), retrying, requests);
}
