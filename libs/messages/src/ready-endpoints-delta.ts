/** How a plan changes the ready endpoints, for the mass-removal and mass-addition guards (ADR 0029). */
export interface ReadyEndpointsDelta {
  /** Change in the Service's ready endpoints; negative for removals. */
  readonly delta: number;
  /** Ready endpoints of the cluster's Services in this partition before the plan. */
  readonly total: number;
  /** A previous plan for the same change was not applied. */
  readonly repeated?: true;
  /** An operator released the change. */
  readonly released?: true;
  /** Facts that justify the removal, to be verified in the cluster. Absent if it follows from no such fact. */
  readonly evidence?: readonly RemovalEvidence[];
  /** Endpoints, ready or not, whose addresses the Service does not have before the plan. Absent: none. */
  readonly added?: { readonly count: number; readonly evidence: readonly AdditionEvidence[] };
}

/** A published fact because of which endpoints are removed. */
export type RemovalEvidence =
  /** The plan's Service does not exist. */
  | { readonly kind: 'service' }
  /** The Pod is deleted or not selected by the Service. */
  | { readonly kind: 'pod'; readonly name: string; readonly uid: string }
  /** The Pod exists, but is not ready or is terminating. */
  | { readonly kind: 'readiness'; readonly name: string; readonly uid: string }
  /** The Pod's Node does not exist. */
  | { readonly kind: 'node'; readonly name: string }
  /** The Endpoints of the plan's Service do not exist. */
  | { readonly kind: 'endpoints' };

/** A published fact because of which an address is added. */
export type AdditionEvidence =
  /** The Pod has the address and is selected by the Service. */
  | { readonly kind: 'pod'; readonly name: string; readonly uid: string; readonly address: string }
  /** The Endpoints of the plan's Service have the address. */
  | { readonly kind: 'endpoints'; readonly address: string };
