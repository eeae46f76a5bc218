/** A request that one might be allowed to make. */
export interface Access {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  /** Empty for core. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Every namespace if left out. */
  readonly namespace?: string;
  readonly name?: string;
}
