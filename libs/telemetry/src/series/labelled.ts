import { type About, labelsText } from './exposition.ts';

interface Node<T> {
  readonly next: Map<string, Node<T>>;
  series: T | undefined;
}

const emptyNode = <T>(): Node<T> => ({ next: new Map(), series: undefined });

/**
 * The series of one metric, found by the values of its labels in their order, without making an object or a text for it:
 * what is counted at every change is looked up at every change.
 */
export class Labelled<T> {
  readonly #names: readonly string[];
  readonly #create: () => T;
  readonly #root = emptyNode<T>();
  readonly #all: { readonly labels: string; readonly series: T }[] = [];

  constructor({ labelNames }: Pick<About, 'labelNames'>, create: () => T) {
    this.#names = labelNames;
    this.#create = create;
    // Without labels there is one series, from the beginning.
    if (labelNames.length === 0) this.of();
  }

  /** The series of these values, which begins with its first use. */
  of(...values: readonly string[]): T {
    let node = this.#root;
    for (const value of values) {
      let next = node.next.get(value);
      if (next === undefined) {
        next = emptyNode();
        node.next.set(value, next);
      }
      node = next;
    }
    node.series ??= this.#begin(values);
    return node.series;
  }

  /** All that began, in that order, with their labels as a scrape has them. */
  get all(): readonly { readonly labels: string; readonly series: T }[] {
    return this.#all;
  }

  #begin(values: readonly string[]): T {
    if (values.length !== this.#names.length) {
      throw new TypeError(
        `${this.#names.length} labels (${this.#names.join(', ')}) cannot have ${values.length} values`,
      );
    }
    const series = this.#create();
    this.#all.push({ labels: labelsText(this.#names, values), series });
    return series;
  }
}
