/** How a plan changes the number of ready endpoints, for the mass-removal guard (ADR 0029). */
export interface ReadyEndpointsDelta {
  /** Change in the Service's ready endpoints; negative for removals. */
  readonly delta: number;
  /** Ready endpoints of the cluster's Services in this partition before the plan. */
  readonly total: number;
  /** A previous plan for the same removal was not applied. */
  readonly repeated?: true;
  /** An operator released the removal. */
  readonly released?: true;
  /** Facts that justify the removal, to be verified in the cluster. Absent if it follows from no such fact. */
  readonly evidence?: readonly RemovalEvidence[];
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
