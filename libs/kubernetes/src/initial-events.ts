import { asRecord, asString } from '@sluice/runtime';
import type { RawObject, WatchEvent } from './cluster.ts';

/** Gathers what a watch with `sendInitialEvents` tells until its closing bookmark: the same as a list, but streamed. */
export class InitialEvents<T> {
  readonly #decode: (object: RawObject) => { readonly value: T } | undefined;
  readonly #objects = new Map<string, T>();

  constructor(decode: (object: RawObject) => { readonly value: T } | undefined) {
    this.#decode = decode;
  }

  /** The version as of which all is here, and the events of the batch after that; undefined while more must come. */
  add(
    batch: readonly WatchEvent[],
  ): { readonly resourceVersion: string; readonly rest: readonly WatchEvent[] } | undefined {
    for (const [index, event] of batch.entries()) {
      if (event.type !== 'BOOKMARK') this.#fold(event.type, event.object);
      else if (event.initialEventsEnd) {
        return { resourceVersion: event.resourceVersion, rest: batch.slice(index + 1) };
      }
    }
    return undefined;
  }

  objects(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Objects may change while the first events are being sent. */
  #fold(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: RawObject): void {
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
