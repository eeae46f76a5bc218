/** A request to be authorized: `resourceAttributes` of a SelfSubjectAccessReview. */
export interface Access {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
}
