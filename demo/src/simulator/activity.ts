/** Something that happened in the world, for a person to read. */
export interface ClusterActivity {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** What happened to the object, as the rest of a sentence: `became ready`. */
  readonly what: string;
  readonly kind: string;
  /** Empty for Nodes. */
  readonly namespace: string;
  readonly name: string;
  /** The Service that it concerns, in the same namespace. */
  readonly service?: string;
}

/** `Pod shop/cart-7f9c5d6b8-x2v4k became ready`. */
export function describeActivity({ kind, namespace, name, what }: ClusterActivity): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${what}`;
}
