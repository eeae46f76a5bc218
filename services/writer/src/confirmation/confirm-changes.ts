import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { checkAddition } from './check-addition.ts';
import { checkRemoval } from './check-removal.ts';
import type { Contradiction } from './fresh-read.ts';
import type { Direction, MassChangeGuard } from './mass-change-guard.ts';

/** Prefixes of the message of each plan that is held back, and of the reason of its parked key. */
export const heldBackReasons = { removal: 'removal held back', addition: 'addition held back' } as const;

interface Confirmation {
  /** Without evidence there is nothing to check. */
  hasEvidence(ready: PlannedMutations['ready']): boolean;
  /** Finds out whether the cluster contradicts the change. */
  check(
    plan: PlannedMutations,
    cluster: Pick<ClusterWriter, 'get'>,
    signal: AbortSignal,
  ): Promise<Contradiction | undefined>;
  /** What the plan would do. */
  what(ready: PlannedMutations['ready']): string;
}

const confirmations: Readonly<Record<Direction, Confirmation>> = {
  removal: {
    check: checkRemoval,
    hasEvidence: (ready) => (ready?.evidence ?? []).length > 0,
    what: (ready) => `${counted(Math.abs(ready?.delta ?? 0), 'ready endpoint', 's')} would be removed`,
  },
  addition: {
    check: checkAddition,
    hasEvidence: (ready) => (ready?.added?.evidence ?? []).length > 0,
    what: (ready) => `${counted(ready?.added?.count ?? 0, 'new address', 'es')} would be added`,
  },
};

const counted = (count: number, noun: string, plural: string) => `${count} ${noun}${count === 1 ? '' : plural}`;

interface ConfirmOptions {
  /** Default: no change needs confirmation. */
  readonly massChangeGuards?: readonly MassChangeGuard[] | undefined;
  readonly partition: number;
  readonly reads: () => Pick<ClusterWriter, 'get'>;
  readonly signal: AbortSignal;
}

/**
 * Asks the cluster to confirm the changes of a plan for which a guard requires it; undefined: none does. Resolves to the result to
 * report if the plan must not be applied.
 */
export function confirmChanges(
  plan: PlannedMutations,
  { massChangeGuards = [], partition, reads, signal }: ConfirmOptions,
): Promise<ApplyResult | undefined> | undefined {
  // Each counts every plan, also one that another holds back.
  const guards = massChangeGuards.filter((guard) => guard.requiresConfirmation(plan, partition));
  return guards.length === 0 ? undefined : confirmEach(guards, plan, reads(), signal);
}

async function confirmEach(
  guards: readonly MassChangeGuard[],
  plan: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  for (const guard of guards) {
    const heldBack = await confirm(plan, guard, cluster, signal);
    if (heldBack === undefined) continue;
    // Reachable: plan held back by a guard
    return heldBack;
  }
  return undefined;
}

async function confirm(
  plan: PlannedMutations,
  guard: MassChangeGuard,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<ApplyResult | undefined> {
  const { check, hasEvidence, what } = confirmations[guard.direction];
  if (!hasEvidence(plan.ready)) return undefined;
  const change = what(plan.ready);
  const prefix = heldBackReasons[guard.direction];
  try {
    const contradiction = await check(plan, cluster, signal);
    if (contradiction === undefined) {
      guard.recordCheck('confirmed', '');
      return undefined;
    }
    // What the plan was decided on may have changed since. If the next plan repeats the change, the contradiction is final.
    if (contradiction.overtaken || !plan.ready?.repeated) {
      guard.recordCheck('overtaken', '');
      return heldBack('conflict', `${change}, but ${contradiction.text}`);
    }
    const message = `${prefix}: ${change}, but ${contradiction.text}`;
    guard.recordCheck('refuted', message);
    return heldBack('rejected', message);
  } catch (error) {
    if (!isApiError(error)) throw error;
    const message = `${prefix}: ${change}, but the cluster cannot confirm it: ${error.message}`;
    guard.recordCheck('unknown', message);
    return heldBack(error.kind === 'retry' ? 'unavailable' : 'rejected', message);
  }
}

const heldBack = (status: OutcomeStatus, message: string): ApplyResult => ({
  status,
  message,
  heldBack: true,
  results: [],
  failures: [],
});
