import {
  ago,
  assessCompetingController,
  type CompetingControllerEvidence,
  controllersValue,
} from '@sluice/kubernetes/preflight';
import type { Distribution } from './distribution.ts';

/**
 * Who writes the Endpoints and EndpointSlices of a cluster. `provider`: kube-controller-manager, whose flags only the
 * provider can change. `unknown`: nothing shows whether kube-controller-manager does.
 */
export type MigrationStage = 'kube-controller-manager' | 'provider' | 'sluice' | 'both' | 'nobody' | 'unknown';

export interface MigrationFacts {
  readonly evidence: CompetingControllerEvidence;
  readonly distribution: Distribution;
  /** A process of Sluice holds the claim on the cluster (ADR 0054). */
  readonly isClaimed: boolean;
  /** A process of Sluice waits to lead. */
  readonly hasStandby: boolean;
  /** `in`: from kube-controller-manager to Sluice; `back`: the way back. */
  readonly direction: 'in' | 'back';
  /** How to name this cluster in a command, for example `--context staging`. Empty: nothing names it. */
  readonly clusterFlags: string;
}

export interface Migration {
  readonly stage: MigrationStage;
  /** Whether the cluster needs help now, because nobody writes. */
  readonly isUrgent: boolean;
  readonly why: string;
  /** What to do next, in this order; empty if nothing is left to do. */
  readonly next: readonly string[];
}

/** Decides how far a migration is, and what comes next. */
export function assessMigration(facts: MigrationFacts): Migration {
  const { evidence, isClaimed } = facts;
  const { status, why } = assessCompetingController(evidence);
  const stage = stageOf(facts, status);
  return {
    stage,
    isUrgent: stage === 'nobody',
    next: nextOf(stage, facts),
    why: `${why}; ${isClaimed ? `Sluice serves the cluster${lastWrite(evidence)}` : 'no process of Sluice serves the cluster'}`,
  };
}

/** Whether Sluice has paused its writes is not visible in the cluster; when it wrote last is. */
const lastWrite = ({ ownWriteAt, now }: CompetingControllerEvidence): string =>
  ownWriteAt === undefined ? ' and has not written' : ` and last wrote ${ago(ownWriteAt, now)} ago`;

function stageOf(
  { distribution, isClaimed }: MigrationFacts,
  status: 'active' | 'unknown' | 'inactive',
): MigrationStage {
  if (status === 'active' && isClaimed) return 'both';
  if (isClaimed) return 'sluice';
  if (distribution.set === undefined) return 'provider';
  if (status === 'active') return 'kube-controller-manager';
  return status === 'unknown' ? 'unknown' : 'nobody';
}

const command = (words: string, { clusterFlags }: MigrationFacts): string => `${words} ${clusterFlags}`.trimEnd();

function nextOf(stage: MigrationStage, facts: MigrationFacts): readonly string[] {
  const { hasStandby, direction } = facts;
  const isBack = direction === 'back';
  const shadow = `compare: ${command('sluice run --shadow --for 30m', facts)} (exit status 0: Sluice would write the same)`;
  const start = `start Sluice: helm install sluice infra/helm, or ${command('sluice run --leader-elect', facts)}; it waits for its turn`;
  const checkAgain = `check again: ${command(`sluice migrate check${isBack ? ' --rollback' : ''}`, facts)}`;
  switch (stage) {
    case 'kube-controller-manager':
      if (isBack) return hasStandby ? ['stop Sluice: helm uninstall sluice'] : [];
      return [...(hasStandby ? [] : [shadow, start]), flagStep(facts, 'off'), checkAgain];
    case 'both':
      return [isBack ? 'stop Sluice: helm uninstall sluice' : flagStep(facts, 'off'), checkAgain];
    case 'sluice':
      return isBack ? [flagStep(facts, 'on'), checkAgain] : [];
    case 'nobody':
      return [isBack ? flagStep(facts, 'on') : start, checkAgain];
    case 'provider':
      return isBack ? [] : [shadow];
    case 'unknown':
      return [`find out: ${command('sluice doctor --probe', facts)}`, checkAgain];
  }
}

/** Sets the flag on top of what a visible Pod has now. */
function flagStep(
  { distribution: { set, controllers }, evidence: { pods, replaced } }: MigrationFacts,
  to: 'on' | 'off',
): string {
  const pod = pods.find(({ enabled }) => enabled === (to === 'off')) ?? pods[0];
  const value = controllersValue(pod === undefined ? controllers : (pod.controllers ?? '*'), to, replaced);
  return `switch the controllers ${to}: ${set?.(value) ?? `ask the provider to start kube-controller-manager with --controllers=${value}`}`;
}
