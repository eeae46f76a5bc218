import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { checkEvidence } from './check-evidence.ts';
import type { MassRemovalGuard } from './mass-removal-guard.ts';

/** Prefix of the message of each plan that is held back, and of the reason of its parked key. */
export const heldBackReason = 'removal held back';

/** Asks the cluster to confirm a removal. Returns the result to report if the plan must not be applied. */
export async function confirmRemoval(
  plan: PlannedMutations,
  guard: MassRemovalGuard,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  // Without evidence there is nothing to check.
  if ((plan.ready?.evidence ?? []).length === 0) return undefined;
  const count = Math.abs(plan.ready?.delta ?? 0);
  const what = `${count} ready endpoint${count === 1 ? '' : 's'} would be removed`;
  try {
    const contradiction = await checkEvidence(plan, cluster, signal);
    if (contradiction === undefined) {
      guard.recordCheck('confirmed', '');
      return undefined;
    }
    if (contradiction.overtaken) {
      guard.recordCheck('overtaken', '');
      return heldBack('conflict', `${what}, but ${contradiction.text} again`);
    }
    const message = `${heldBackReason}: ${what}, but ${contradiction.text}`;
    guard.recordCheck('refuted', message);
    return heldBack('rejected', message);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const message = `${heldBackReason}: ${what}, but the cluster cannot confirm it: ${error.message}`;
    guard.recordCheck('unknown', message);
    return heldBack(error.kind === 'retry' ? 'unavailable' : 'rejected', message);
  }
}

const heldBack = (status: OutcomeStatus, message: string): ApplyResult => ({
  status,
  message,
  results: [],
  failures: [],
});
