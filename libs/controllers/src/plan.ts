import type { Endpoints } from './objects/endpoints.ts';
import type { EndpointSlice } from './objects/endpointslice.ts';

/** The three controllers, each of which decides on its own and can be switched off. */
export type Controller = 'endpoints' | 'endpointslice' | 'endpointslicemirroring';
export const controllers: readonly Controller[] = ['endpoints', 'endpointslice', 'endpointslicemirroring'];

/** A resource that Sluice writes. */
export type WrittenResource = 'endpoints' | 'endpointslices';

/** One request to the API server, as data. */
export type Mutation =
  | { readonly verb: 'create'; readonly resource: 'endpoints'; readonly object: Endpoints }
  /** `metadata.name` is empty where `generateName` asks for a name; it is then derived from the plan. */
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
      /** The slice is of an address type that its Service does not have; a failure then has a text of its own (E28). */
      readonly unsupportedAddressType?: true;
    };

/** Mutations in the order of their application. The first failure ends the group; other groups go on (E13, E28). */
export interface MutationGroup {
  readonly mutations: readonly Mutation[];
}

/** A Kubernetes Event to be recorded (section J). */
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

/** What a controller wants done for one Service. A plan without groups wants nothing. */
export interface Plan {
  readonly groups: readonly MutationGroup[];
  readonly events: readonly EventToRecord[];
  /** What keeps this plan from being complete, e.g. a Pod whose Node is missing (E15). The rest is written all the same. */
  readonly incomplete: readonly string[];
}

export const emptyPlan: Plan = { groups: [], events: [], incomplete: [] };
