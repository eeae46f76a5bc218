import type { PlannedMutations } from '@sluice/messages';
import type { Difference } from './comparison/compare.ts';
import { explain } from './comparison/explained.ts';
import type { ClusterState } from './comparison/normalise.ts';

/** Input of the rules that explain differences. */
export interface ShadowContext {
  /** The current objects. */
  readonly state: ClusterState;
  readonly plan: Pick<PlannedMutations, 'groups' | 'incomplete'>;
  /** Minor version of Kubernetes. */
  readonly minor: number;
  readonly maxEndpointsPerSlice: number;
  /** Whether the upstream handlers ignore the change that caused the plan. */
  readonly overlooked: boolean;
}

export interface ShadowExplanation {
  /** Numbers of the rules of docs/reference/parity.md. */
  readonly rules: string;
  readonly why: string;
}

type Rule = ShadowExplanation & { readonly explains: (difference: Difference, context: ShadowContext) => boolean };

const managedBy = 'endpoints.kubernetes.io/managed-by';

const rules: readonly Rule[] = [
  {
    rules: 'D4',
    why: 'kube-controller-manager deletes Endpoints without a Service only when it starts',
    explains: ({ resource, sluice }, { state }) =>
      resource === 'endpoints' && sluice.length === 0 && state.services.length === 0,
  },
  {
    rules: 'E15',
    why: 'the upstream controller writes nothing while the Node of a Pod is unknown',
    explains: (_, { plan }) => plan.incomplete.length > 0,
  },
  {
    rules: 'D (1.33)',
    why: `before Kubernetes 1.33, Endpoints do not have the label ${managedBy}`,
    explains: ({ resource, lines }, { minor }) =>
      resource === 'endpoints' &&
      minor < 33 &&
      lines.length > 0 &&
      lines.every((line) => line.includes(managedBy) && line.includes(': absent ≠ ')),
  },
  {
    rules: 'C12–C14, D3, E3, E6, H1',
    why: 'the upstream controller misses this until the next change of the Service or its Pods, or its resync within 12 to 24 hours',
    explains: (_, { overlooked }) => overlooked,
  },
];

/** Why a difference is expected; undefined if no rule explains it. */
export function explainShadow(difference: Difference, context: ShadowContext): ShadowExplanation | undefined {
  return explain(difference, context) ?? rules.find(({ explains }) => explains(difference, context));
}
