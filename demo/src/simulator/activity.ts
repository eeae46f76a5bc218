/** A change made by the simulator, described for people. */
export interface ClusterActivity {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Predicate of a sentence about the object: `became ready`. */
  readonly description: string;
  readonly kind: string;
  /** Empty for Nodes. */
  readonly namespace: string;
  readonly name: string;
  /** The affected Service, in the same namespace. */
  readonly service?: string;
}

/** `Pod shop/cart-7f9c5d6b8-x2v4k became ready`. */
export function describeActivity({ kind, namespace, name, description }: ClusterActivity): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${description}`;
}
