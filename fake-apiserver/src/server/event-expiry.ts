import type { VersionedStore } from './versioned-store.ts';

/** A real API server deletes Events after an hour; the fake keeps at most this many. */
export const maxEvents = 2000;

/** Removes the oldest Events above the limit. */
export class EventExpiry {
  readonly #store: VersionedStore;
  #places: { readonly namespace: string; readonly name: string }[] = [];

  constructor(store: VersionedStore) {
    this.#store = store;
  }

  /** Must be called for each new Event. */
  add(namespace: string, name: string): void {
    this.#places.push({ namespace, name });
    if (this.#places.length <= maxEvents) return;
    const expired = this.#places.slice(0, maxEvents / 10);
    this.#places = this.#places.slice(expired.length);
    for (const place of expired) {
      const event = this.#store.get('events', place.namespace, place.name);
      if (event !== undefined) this.#store.remove('events', event);
    }
  }
}
