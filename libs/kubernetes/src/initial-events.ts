import { asRecord, asString } from '@sluice/platform';
import type { RawObject, WatchEvent } from './cluster.ts';

/** Collects the initial events of a WatchList up to their closing bookmark: the streamed equivalent of a list. */
export class InitialEvents<T> {
  readonly #decode: (object: RawObject) => { readonly value: T } | undefined;
  readonly #objects = new Map<string, T>();

  constructor(decode: (object: RawObject) => { readonly value: T } | undefined) {
    this.#decode = decode;
  }

  /** Returns the list's resourceVersion and the events after it once the list is complete, and undefined before. */
  add(
    batch: readonly WatchEvent[],
  ): { readonly resourceVersion: string; readonly rest: readonly WatchEvent[] } | undefined {
    for (const [index, event] of batch.entries()) {
      if (event.type !== 'BOOKMARK') this.#apply(event.type, event.object);
      else if (event.initialEventsEnd) {
        return { resourceVersion: event.resourceVersion, rest: batch.slice(index + 1) };
      }
    }
    return undefined;
  }

  objects(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Objects may change while the initial events are sent. */
  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: RawObject): void {
    const metadata = asRecord(object.metadata);
    const key = `${asString(metadata.namespace)}/${asString(metadata.name)}`;
    if (type === 'DELETED') {
      this.#objects.delete(key);
      return;
    }
    const decoded = this.#decode(object);
    if (decoded !== undefined) this.#objects.set(key, decoded.value);
  }
}
