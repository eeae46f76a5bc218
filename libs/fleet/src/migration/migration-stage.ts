import {
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
    why: `${why}; ${isClaimed ? 'Sluice serves the cluster' : 'no process of Sluice serves the cluster'}`,
  };
}

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

const shadow = 'compare: sluice run --shadow --for 30m (exit status 0: Sluice would write the same)';
const start = 'start Sluice: helm install sluice infra/helm, or sluice run --leader-elect; it waits for its turn';
const checkAgain = (back: boolean) => `check again: sluice migrate check${back ? ' --rollback' : ''}`;

function nextOf(stage: MigrationStage, facts: MigrationFacts): readonly string[] {
  const { hasStandby, direction } = facts;
  const isBack = direction === 'back';
  switch (stage) {
    case 'kube-controller-manager':
      if (isBack) return hasStandby ? ['stop Sluice: helm uninstall sluice'] : [];
      return [...(hasStandby ? [] : [shadow, start]), flagStep(facts, 'off'), checkAgain(isBack)];
    case 'both':
      return [isBack ? 'stop Sluice: helm uninstall sluice' : flagStep(facts, 'off'), checkAgain(isBack)];
    case 'sluice':
      return isBack ? [flagStep(facts, 'on'), checkAgain(isBack)] : [];
    case 'nobody':
      return isBack ? [flagStep(facts, 'on'), checkAgain(isBack)] : [start, checkAgain(isBack)];
    case 'provider':
      return isBack ? [] : [shadow];
    case 'unknown':
      return ['find out: sluice doctor --probe', checkAgain(isBack)];
  }
}

/** Sets the flag on top of what a visible Pod has now. */
function flagStep(
  { distribution: { set, controllers }, evidence: { pods } }: MigrationFacts,
  to: 'on' | 'off',
): string {
  const pod = pods.find(({ enabled }) => enabled === (to === 'off')) ?? pods[0];
  const value = controllersValue(pod === undefined ? controllers : (pod.controllers ?? '*'), to);
  return `switch the controllers ${to}: ${set?.(value) ?? `ask the provider to start kube-controller-manager with --controllers=${value}`}`;
}
