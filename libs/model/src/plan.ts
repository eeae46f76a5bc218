import type { EndpointSlice, Endpoints } from './objects.ts';

/** The name of a registered controller. */
export type Controller = string;

/** A resource that Sluice writes. */
export type WrittenResource = 'endpoints' | 'endpointslices';

/** A request to the API server, as data. */
export type Mutation =
  | { readonly verb: 'create'; readonly resource: 'endpoints'; readonly object: Endpoints }
  /** An empty `metadata.name` with `generateName` means that the name is derived from the plan. */
  | { readonly verb: 'create'; readonly resource: 'endpointslices'; readonly object: EndpointSlice }
  /** `metadata.resourceVersion` of the object is the precondition. */
  | { readonly verb: 'update'; readonly resource: 'endpoints'; readonly object: Endpoints }
  | { readonly verb: 'update'; readonly resource: 'endpointslices'; readonly object: EndpointSlice }
  /** `uid` and, where known, `resourceVersion` are the preconditions. */
  | {
      readonly verb: 'delete';
      readonly resource: WrittenResource;
      readonly name: string;
      readonly uid?: string;
      readonly resourceVersion?: string;
      /** The Service does not have the slice's address type. A failure is then worded differently (E28). */
      readonly unsupportedAddressType?: true;
    };

/** Mutations that are applied in order. The first failure stops the group; other groups continue (E13, E28). */
export interface MutationGroup {
  readonly mutations: readonly Mutation[];
}

/** A Kubernetes Event to record (section J). */
export interface EventToRecord {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly regarding: {
    readonly kind: 'Service' | 'Endpoints';
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string;
  };
}

/** What a controller writes for one Service. A plan without groups writes nothing. */
export interface Plan {
  readonly groups: readonly MutationGroup[];
  readonly events: readonly EventToRecord[];
  /**
   * Reasons why the plan is incomplete, for example a Pod whose Node is missing (E15). The rest is written regardless.
   */
  readonly incomplete: readonly string[];
}

export const emptyPlan: Plan = { groups: [], events: [], incomplete: [] };
