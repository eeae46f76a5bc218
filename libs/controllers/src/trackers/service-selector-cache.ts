import type { StringMap } from '../objects/metadata.ts';

/**
 * Which Services of a namespace select given labels (C9). Each selector is filed under one of its label pairs,
 * the one that fewest others are filed under, so a look-up costs as much as it has candidates, not as there are Services.
 * Owned by one caller; not a value.
 */
export class ServiceSelectorCache {
  readonly #namespaces = new Map<string, NamespaceSelectors>();

  /** Files the selector of a Service. Null: the Service selects nothing. Empty: it selects every Pod. */
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

  /** Names of the Services whose selector the labels satisfy. Null labels satisfy empty selectors only. */
  servicesFor(namespace: string, labels: StringMap | null): string[] {
    return this.#namespaces.get(namespace)?.matching(labels ?? {}) ?? [];
  }
}

type Pairs = readonly (readonly [key: string, value: string])[];
type Drawer = Map<string, Pairs>;

class NamespaceSelectors {
  /** By name of the Service, the label pair of its selector under which it is filed; null: it selects everything. */
  readonly #filedUnder = new Map<string, Pairs[number] | null>();
  /** By key and value: most keys of a Pod are in no selector, and cost one look. */
  readonly #byKey = new Map<string, Map<string, Drawer>>();
  readonly #everything: Drawer = new Map();

  add(name: string, selector: StringMap): void {
    const pairs = Object.entries(selector);
    const place = this.#emptiestPlace(pairs);
    this.#filedUnder.set(name, place);
    this.#drawer(place).set(name, pairs);
  }

  remove(name: string): void {
    const place = this.#filedUnder.get(name);
    if (place === undefined) return;
    this.#filedUnder.delete(name);
    if (place === null) return void this.#everything.delete(name);
    const [key, value] = place;
    const byValue = this.#byKey.get(key);
    const drawer = byValue?.get(value);
    drawer?.delete(name);
    if (drawer?.size === 0) byValue?.delete(value);
    if (byValue?.size === 0) this.#byKey.delete(key);
  }

  isEmpty(): boolean {
    return this.#filedUnder.size === 0;
  }

  matching(labels: StringMap): string[] {
    const names = [...this.#everything.keys()];
    for (const key in labels) {
      const drawer = this.#byKey.get(key)?.get(labels[key] ?? '');
      if (drawer !== undefined) collect(drawer, labels, names);
    }
    return names;
  }

  #drawer(place: Pairs[number] | null): Drawer {
    if (place === null) return this.#everything;
    const [key, value] = place;
    let byValue = this.#byKey.get(key);
    if (byValue === undefined) {
      byValue = new Map();
      this.#byKey.set(key, byValue);
    }
    let drawer = byValue.get(value);
    if (drawer === undefined) {
      drawer = new Map();
      byValue.set(value, drawer);
    }
    return drawer;
  }

  #emptiestPlace(pairs: Pairs): Pairs[number] | null {
    let best: Pairs[number] | null = null;
    let size = Number.POSITIVE_INFINITY;
    for (const pair of pairs) {
      const filed = this.#byKey.get(pair[0])?.get(pair[1])?.size ?? 0;
      if (filed >= size) continue;
      best = pair;
      size = filed;
    }
    return best;
  }
}

function collect(drawer: Drawer, labels: StringMap, names: string[]): void {
  for (const [name, pairs] of drawer) {
    if (pairs.every(([key, value]) => labels[key] === value)) names.push(name);
  }
}
