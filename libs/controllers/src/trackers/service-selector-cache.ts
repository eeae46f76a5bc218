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

class NamespaceSelectors {
  readonly #filedUnder = new Map<string, string>();
  readonly #byPair = new Map<string, Map<string, Pairs>>();

  add(name: string, selector: StringMap): void {
    const pairs = Object.entries(selector);
    const place = this.#emptiestPlace(pairs);
    this.#filedUnder.set(name, place);
    const drawer = this.#byPair.get(place);
    if (drawer === undefined) this.#byPair.set(place, new Map([[name, pairs]]));
    else drawer.set(name, pairs);
  }

  remove(name: string): void {
    const place = this.#filedUnder.get(name);
    if (place === undefined) return;
    this.#filedUnder.delete(name);
    const drawer = this.#byPair.get(place);
    drawer?.delete(name);
    if (drawer?.size === 0) this.#byPair.delete(place);
  }

  isEmpty(): boolean {
    return this.#filedUnder.size === 0;
  }

  matching(labels: StringMap): string[] {
    const names: string[] = [];
    collect(this.#byPair.get(everything), labels, names);
    for (const key in labels) collect(this.#byPair.get(placeOf(key, labels[key] ?? '')), labels, names);
    return names;
  }

  #emptiestPlace(pairs: Pairs): string {
    let best = everything;
    let size = Number.POSITIVE_INFINITY;
    for (const [key, value] of pairs) {
      const place = placeOf(key, value);
      const filed = this.#byPair.get(place)?.size ?? 0;
      if (filed >= size) continue;
      best = place;
      size = filed;
    }
    return best;
  }
}

/** Where empty selectors are filed; no pair has this text. */
const everything = '';

/** A label key contains no `=`. */
function placeOf(key: string, value: string): string {
  return `${key}=${value}`;
}

function collect(drawer: ReadonlyMap<string, Pairs> | undefined, labels: StringMap, names: string[]): void {
  if (drawer === undefined) return;
  for (const [name, pairs] of drawer) {
    if (pairs.every(([key, value]) => labels[key] === value)) names.push(name);
  }
}
