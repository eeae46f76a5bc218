import type { ApiError } from './api-error.ts';
import type { Resource } from './cluster.ts';
import { readerError } from './status.ts';

/** More objects of one resource than any cluster has: etcd holds 8 GiB. */
const maxObjects = 2_000_000;
/** A server that sends more pages than this never ends the list. */
const maxPages = 20_000;

/**
 * Bounds the memory that the objects of one cluster take, so that a list or watch without end fails instead of exhausting the
 * memory of all clusters in the process. It counts what is kept of the objects, not what was received.
 */
export class ListBudget {
  /** For all resources together. */
  readonly maxBytes: number;
  /** Bytes of the last list of each resource, and of its changes since. */
  readonly #kept = new Map<Resource, number>();
  /** Sizes of objects that a watch has delivered: each is needed again when the next version replaces the object. */
  readonly #sizes = new WeakMap<object, number>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** What is kept of each resource now. */
  get bytes(): ReadonlyMap<Resource, number> {
    return this.#kept;
  }

  /**
   * Counts an event of a watch, after which `after` is kept instead of `before`; undefined: nothing.
   *
   * @throws ApiError, and counts nothing, if the objects become too large
   */
  update(resource: Resource, before: unknown, after: unknown): void {
    const growth = this.#sizeOf(after) - this.#sizeOf(before);
    if (growth > 0 && this.#kept.values().reduce((sum, bytes) => sum + bytes, growth) > this.maxBytes) {
      throw readerError('terminal', 'WatchTooLarge', `the watch of ${resource} sends too much: ${this.#limit}`);
    }
    this.#kept.set(resource, (this.#kept.get(resource) ?? 0) + growth);
  }

  /** The same as `sizeOf`, with the sizes of the members that are objects remembered. */
  #sizeOf(kept: unknown): number {
    if (typeof kept !== 'object' || kept === null) return sizeOf(kept);
    let bytes = bytesPerObject;
    for (const name in kept) {
      const member: unknown = kept[name as keyof typeof kept];
      bytes += typeof member === 'object' && member !== null ? this.#sizeOfMember(member) : sizeOf(member);
    }
    return bytes;
  }

  #sizeOfMember(member: object): number {
    let bytes = this.#sizes.get(member);
    if (bytes === undefined) {
      bytes = sizeOf(member);
      this.#sizes.set(member, bytes);
    }
    return bytes;
  }

  get #limit(): string {
    return `the objects of this cluster need more than ${Math.floor(this.maxBytes / 1024 / 1024)} MiB of memory`;
  }

  /** Begins a list, which replaces the previous one of the resource. */
  begin(resource: Resource): ListCount {
    this.#kept.delete(resource);
    const others = this.#kept.values().reduce((sum, bytes) => sum + bytes, 0);
    let [objects, pages, bytes] = [0, 0, 0];
    return {
      add: (value) => {
        objects += 1;
        bytes += sizeOf(value);
        this.#kept.set(resource, bytes);
        if (objects > maxObjects) throw tooLarge(resource, `it has more than ${maxObjects} objects`);
        if (others + bytes > this.maxBytes) {
          throw tooLarge(resource, this.#limit);
        }
      },
      addPage: () => {
        pages += 1;
        if (pages > maxPages) throw tooLarge(resource, `it has more than ${maxPages} pages`);
      },
    };
  }
}

/** Counts one list. Throws an ApiError when it is too large. */
export interface ListCount {
  /** Counts one object of the list by what is kept of it. */
  add(kept: unknown): void;
  addPage(): void;
}

const tooLarge = (resource: Resource, reason: string): ApiError =>
  readerError('terminal', 'ListTooLarge', `the list of ${resource} is too large: ${reason}`);

const bytesPerObject = 40;

/** Approximate size in the heap. The value must not be nested deeply. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = bytesPerObject;
  if (Array.isArray(value)) for (const member of value) bytes += sizeOf(member);
  else for (const name in value) bytes += sizeOf(value[name as keyof typeof value]);
  return bytes;
}
