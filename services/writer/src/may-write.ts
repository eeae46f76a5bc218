import type { ClusterChecks, RequestCheck } from '@sluice/kubernetes';
import { comparePlans, type PlanId, type PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from './apply/apply-mutations.ts';
import { confirmChanges } from './confirmation/confirm-changes.ts';
import { hasPreconditions, type PlanFence } from './fencing/plan-fence.ts';
import type { PlanCheckpoint } from './partition/plan-checkpoint.ts';
import type { WritableCluster } from './writable-cluster.ts';

/**
 * May this process write? These are all checks, in their order; the first "no" decides. docs/concepts/writer.md says what follows from each.
 */
export const mayWrite = {
  /** Once per plan. A refusal is the result of the plan. */
  plan: [
    {
      question: 'Can no former owner of the partition have applied the plan, or has every write of it a precondition?',
      refuse({ plan, offset, checkpoint }: PlanInQuestion): Refusal | undefined {
        const mayRepeat = !checkpoint.isInherited(offset) || hasPreconditions(plan);
        if (mayRepeat && !checkpoint.mayHaveBeenApplied(offset)) return undefined;
        // Reachable: plan of a former owner returned to the reconciler
        return refusal('conflict', 'a former owner of the partition may have applied it');
      },
    },
    {
      question: 'Is it newer than all completed plans of its Service and controller?',
      refuse({ plan, workKey, fence }: PlanInQuestion): Refusal | undefined {
        if (!fence.rejects(workKey, plan.plan)) return undefined;
        // Reachable: completed plan delivered again
        return refusal('conflict', 'already applied or superseded');
      },
    },
    {
      question: 'Is the cluster served and connected?',
      refuse({ plan, cluster }: PlanInQuestion): Refusal | undefined {
        if (cluster === 'connecting') return refusal('unavailable', 'cluster not reached yet');
        if (cluster !== undefined) return undefined;
        return { ...refusal('rejected', `cluster ${plan.key.cluster} is unknown`), isDeadLetter: true };
      },
    },
  ],
  /** Once per plan, by reads of the cluster. A refusal is the result of the plan. */
  cluster: { question: 'Does the cluster confirm a mass removal or a mass addition?', refuse: confirmChanges },
  /** Before each attempt of a request, as soon as it has a slot. A refusal ends the plan. */
  slot: {
    question: 'Has no newer plan arrived, unless a part of this one may be stored?',
    refuse(plan: PlanId, newest: PlanId | undefined): Error | undefined {
      if (newest === undefined || comparePlans(newest, plan) <= 0) return undefined;
      return new SupersededError(`superseded by plan ${newest.epoch}/${newest.number}`);
    },
  },
  /** Before each attempt of a request, and again right before its bytes leave. A refusal fails the attempt. */
  request: [
    { question: 'Does this process hold the lease of the partition?', check: ({ lease }: RequestChecks) => lease },
    { question: 'Does the same cluster answer at its address?', check: ({ identity }: RequestChecks) => identity },
    { question: 'Does this fleet hold the claim to the cluster?', check: ({ claim }: RequestChecks) => claim },
    { question: 'Does no competing controller write?', check: ({ pause }: RequestChecks) => pause },
  ],
  /** Right before the bytes leave, by the connection, of Events too: `libs/fleet/src/leader-election/fence-writes.ts`. */
  connection: { question: 'Is this process the leader, with `--leader-elect`?' },
  /** By the API server. */
  server: { question: 'Has the object the resourceVersion or UID on which the plan was decided?' },
} as const;

/** What the checks of a plan read. */
interface PlanInQuestion {
  readonly plan: PlannedMutations;
  /** Of its record. */
  readonly offset: number;
  /** Its Service and controller. */
  readonly workKey: string;
  readonly checkpoint: Pick<PlanCheckpoint, 'isInherited' | 'mayHaveBeenApplied'>;
  readonly fence: Pick<PlanFence, 'rejects'>;
  readonly cluster: WritableCluster | 'connecting' | undefined;
}

interface RequestChecks extends ClusterChecks {
  readonly lease?: RequestCheck;
}

/** The result of a plan that must not be sent. */
interface Refusal extends ApplyResult {
  readonly message: string;
  /** Its record is kept as a dead letter, too. */
  readonly isDeadLetter?: true;
}

/** Undefined: nothing speaks against the plan so far. */
export function refusePlan(plan: PlanInQuestion): Refusal | undefined {
  for (const { refuse } of mayWrite.plan) {
    const refused = refuse(plan);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** The checks of a request that there are, in their order. */
export const requestChecks = (given: RequestChecks): readonly RequestCheck[] =>
  mayWrite.request.flatMap(({ check }) => check(given) ?? []);

const refusal = (status: ApplyResult['status'], message: string): Refusal => ({
  status,
  message,
  results: [],
  failures: [],
});

/** A newer plan for the same Service and controller has arrived, and nothing of this one can have been stored. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}
