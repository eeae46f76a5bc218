import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { checkAddition } from './check-addition.ts';
import { checkRemoval } from './check-removal.ts';
import type { CheckResult } from './check-sampling.ts';
import type { Contradiction } from './fresh-read.ts';

/** Prefixes of the message of each plan that is held back, and of the reason of its parked key. */
export const heldBackReasons = { removal: 'removal held back', addition: 'addition held back' } as const;

/** Receives the result of a check, with the message of a plan that is held back. */
export interface CheckRecorder {
  recordCheck(result: CheckResult, message: string): void;
}

type Check = (
  plan: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
) => Promise<Contradiction | undefined>;

/** Asks the cluster to confirm a removal. Returns the result to report if the plan must not be applied. */
export async function confirmRemoval(
  plan: PlannedMutations,
  recorder: CheckRecorder,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  // Without evidence there is nothing to check.
  if ((plan.ready?.evidence ?? []).length === 0) return undefined;
  const count = Math.abs(plan.ready?.delta ?? 0);
  const what = `${count} ready endpoint${count === 1 ? '' : 's'} would be removed`;
  const confirmation = { check: checkRemoval, recorder, prefix: heldBackReasons.removal, what };
  return confirm(plan, confirmation, cluster, signal);
}

/** Asks the cluster to confirm added addresses. Returns the result to report if the plan must not be applied. */
export async function confirmAddition(
  plan: PlannedMutations,
  recorder: CheckRecorder,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  const count = plan.ready?.added?.count ?? 0;
  const what = `${count} new address${count === 1 ? '' : 'es'} would be added`;
  const confirmation = { check: checkAddition, recorder, prefix: heldBackReasons.addition, what };
  return confirm(plan, confirmation, cluster, signal);
}

async function confirm(
  plan: PlannedMutations,
  { check, recorder, prefix, what }: { check: Check; recorder: CheckRecorder; prefix: string; what: string },
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  try {
    const contradiction = await check(plan, cluster, signal);
    if (contradiction === undefined) {
      recorder.recordCheck('confirmed', '');
      return undefined;
    }
    if (contradiction.overtaken) {
      recorder.recordCheck('overtaken', '');
      return heldBack('conflict', `${what}, but ${contradiction.text}`);
    }
    const message = `${prefix}: ${what}, but ${contradiction.text}`;
    recorder.recordCheck('refuted', message);
    return heldBack('rejected', message);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const message = `${prefix}: ${what}, but the cluster cannot confirm it: ${error.message}`;
    recorder.recordCheck('unknown', message);
    return heldBack(error.kind === 'retry' ? 'unavailable' : 'rejected', message);
  }
}

const heldBack = (status: OutcomeStatus, message: string): ApplyResult => ({
  status,
  message,
  results: [],
  failures: [],
});
