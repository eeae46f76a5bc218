import type { StringMap } from '@sluice/model';

/**
 * Finds the Services of a namespace that select given labels (C9). Each selector is indexed under one of its label
 * pairs, the one with the fewest other selectors, so the cost of a lookup depends on the candidates and not on the
 * number of Services. Mutable.
 */
export class ServiceSelectorCache {
  readonly #namespaces = new Map<string, NamespaceSelectors>();

  /** Adds or replaces the selector of a Service. Null selects nothing; an empty selector selects every Pod. */
  update(namespace: string, name: string, selector: StringMap | null): void {
    this.delete(namespace, name);
    if (selector === null) return;
    let selectors = this.#namespaces.get(namespace);
    if (selectors === undefined) {
      selectors = new NamespaceSelectors();
      this.#namespaces.set(namespace, selectors);
    }
    selectors.add(name, selector);
  }

  delete(namespace: string, name: string): void {
    const selectors = this.#namespaces.get(namespace);
    if (selectors === undefined) return;
    selectors.remove(name);
    if (selectors.isEmpty()) this.#namespaces.delete(namespace);
  }

  /** Names of the Services of a namespace with a selector; none if there are more than `max`. */
  servicesOf(namespace: string, max: number): string[] {
    return this.#namespaces.get(namespace)?.names(max) ?? [];
  }

  /** Returns the names of the Services that select the labels. Null labels match empty selectors only. */
  servicesFor(namespace: string, labels: StringMap | null): string[] {
    return this.#namespaces.get(namespace)?.matching(labels ?? {}) ?? [];
  }
}

type Pairs = readonly (readonly [key: string, value: string])[];
type Bucket = Map<string, Pairs>;

class NamespaceSelectors {
  /** The label pair under which each Service is indexed, or null if it selects every Pod. */
  readonly #indexedUnder = new Map<string, Pairs[number] | null>();
  /** Keyed by label key, then value. Most label keys are in no selector and cost one lookup. */
  readonly #byKey = new Map<string, Map<string, Bucket>>();
  readonly #everything: Bucket = new Map();

  add(name: string, selector: StringMap): void {
    const pairs = Object.entries(selector);
    const pair = this.#smallestBucket(pairs);
    this.#indexedUnder.set(name, pair);
    this.#bucket(pair).set(name, pairs);
  }

  remove(name: string): void {
    const pair = this.#indexedUnder.get(name);
    if (pair === undefined) return;
    this.#indexedUnder.delete(name);
    if (pair === null) return void this.#everything.delete(name);
    const [key, value] = pair;
    const byValue = this.#byKey.get(key);
    const bucket = byValue?.get(value);
    bucket?.delete(name);
    if (bucket?.size === 0) byValue?.delete(value);
    if (byValue?.size === 0) this.#byKey.delete(key);
  }

  names(max: number): string[] {
    return this.#indexedUnder.size > max ? [] : [...this.#indexedUnder.keys()];
  }

  isEmpty(): boolean {
    return this.#indexedUnder.size === 0;
  }

  matching(labels: StringMap): string[] {
    const names = [...this.#everything.keys()];
    for (const key in labels) {
      const bucket = this.#byKey.get(key)?.get(labels[key] ?? '');
      if (bucket !== undefined) collectMatching(bucket, labels, names);
    }
    return names;
  }

  #bucket(pair: Pairs[number] | null): Bucket {
    if (pair === null) return this.#everything;
    const [key, value] = pair;
    let byValue = this.#byKey.get(key);
    if (byValue === undefined) {
      byValue = new Map();
      this.#byKey.set(key, byValue);
    }
    let bucket = byValue.get(value);
    if (bucket === undefined) {
      bucket = new Map();
      byValue.set(value, bucket);
    }
    return bucket;
  }

  #smallestBucket(pairs: Pairs): Pairs[number] | null {
    let best: Pairs[number] | null = null;
    let size = Number.POSITIVE_INFINITY;
    for (const pair of pairs) {
      const indexed = this.#byKey.get(pair[0])?.get(pair[1])?.size ?? 0;
      if (indexed >= size) continue;
      best = pair;
      size = indexed;
    }
    return best;
  }
}

function collectMatching(bucket: Bucket, labels: StringMap, names: string[]): void {
  for (const [name, pairs] of bucket) {
    if (pairs.every(([key, value]) => labels[key] === value)) names.push(name);
  }
}
