import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { Application } from './apply-plan.ts';
import { checkClaims } from './check-claims.ts';
import type { RemovalBrake } from './removal-brake.ts';
import type { Retrying } from './retrying.ts';

/** Begins the message of each plan that is held back, and so the reason of what is parked for it. */
export const heldBackReason = 'removal held back';

/** Asks the cluster whether a removal is right. Returns what becomes of the plan if it must not be carried out. */
export async function confirmRemoval(
  plan: PlannedMutations,
  brake: RemovalBrake,
  cluster: Pick<ClusterWriter, 'get'>,
  retrying: Retrying,
  signal: AbortSignal,
): Promise<Application | undefined> {
  // There is nothing to look at.
  if ((plan.ready?.evidence ?? []).length === 0) return undefined;
  const count = Math.abs(plan.ready?.delta ?? 0);
  const what = `${count} ready endpoint${count === 1 ? '' : 's'} would be removed`;
  try {
    const against = await checkClaims(plan, cluster, retrying, signal);
    if (against === undefined) {
      brake.checked('confirmed', '');
      return undefined;
    }
    if (against.overtaken) {
      brake.checked('overtaken', '');
      return heldBack('conflict', `${what}, but ${against.text} again`);
    }
    const message = `${heldBackReason}: ${what}, but ${against.text}`;
    brake.checked('refuted', message);
    return heldBack('rejected', message);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const message = `${heldBackReason}: ${what}, and whether that is right cannot be looked up: ${error.message}`;
    brake.checked('unknown', message);
    return heldBack(error.reaction === 'retry' ? 'unavailable' : 'rejected', message);
  }
}

const heldBack = (status: OutcomeStatus, message: string): Application => ({
  status,
  message,
  results: [],
  failures: [],
  retries: 0,
});
