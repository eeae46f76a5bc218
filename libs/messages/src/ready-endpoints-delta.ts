/** What a plan does to the number of ready endpoints, for the brake on removals (ADR 0029). */
export interface ReadyEndpointsDelta {
  /** Ready endpoints of the Service that there are more with the plan than before it; negative: fewer. */
  readonly delta: number;
  /** Ready endpoints of all Services of the cluster that are in this partition, as written before the plan. */
  readonly total: number;
  /** A plan for the same came to nothing before. */
  readonly repeated?: true;
  /** A person lets it go. */
  readonly released?: true;
  /** What the loss rests on: a few facts, to be looked at in the cluster itself. None: it follows from none of these. */
  readonly evidence?: readonly RemovalEvidence[];
}

/** Something that a watcher told, for which endpoints are removed. */
export type RemovalEvidence =
  /** There is no such Service; the plan's own. */
  | { readonly kind: 'service' }
  /** The Service does not have this Pod: it is gone, or is not selected. */
  | { readonly kind: 'pod'; readonly name: string; readonly uid: string }
  /** It is there, but is not ready or is about to end. */
  | { readonly kind: 'readiness'; readonly name: string; readonly uid: string }
  /** The Pod's Node is not there. */
  | { readonly kind: 'node'; readonly name: string }
  /** There are no such Endpoints; those of the plan's Service. */
  | { readonly kind: 'endpoints' };
