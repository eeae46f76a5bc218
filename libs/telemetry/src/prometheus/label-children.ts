interface Node<T> {
  readonly next: Map<string, Node<T>>;
  child: T | undefined;
}

/**
 * Caches the children of one metric by the values of its labels. prom-client builds and hashes an object of labels for
 * each lookup; this lookup allocates nothing, which counts for metrics that every change updates.
 */
export class LabelChildren<T> {
  readonly #create: (values: readonly string[]) => T;
  readonly #root: Node<T> = { next: new Map(), child: undefined };

  /** `create` makes the child of label values that occur for the first time. */
  constructor(create: (values: readonly string[]) => T) {
    this.#create = create;
  }

  /** The child of these label values, in the order of the metric's label names. */
  withLabelValues(...values: readonly string[]): T {
    let node = this.#root;
    for (const value of values) {
      let next = node.next.get(value);
      if (next === undefined) {
        next = { next: new Map(), child: undefined };
        node.next.set(value, next);
      }
      node = next;
    }
    node.child ??= this.#create(values);
    return node.child;
  }
}
