import type { Clock } from '@sluice/platform';
import type { LogEntry } from './event-log.ts';
import { keyOf, type StoredObject } from './object.ts';
import { type Selection, selects } from './selection.ts';
import { badRequest, expired } from './status.ts';

const maxSnapshots = 8;
const snapshotLifeMs = 5 * 60_000;

export interface Page {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
  /** Number of items after this page; set only for lists without a selector. */
  readonly remainingItemCount?: number;
}

interface Snapshot {
  readonly resourceVersion: number;
  readonly takenAt: number;
  readonly items: readonly StoredObject[];
}

/** The objects of one resource, and the snapshots that serve paged lists. */
export class Collection {
  readonly #clock: Clock;
  readonly #objects = new Map<string, StoredObject>();
  #sortedKeys: readonly string[] | undefined;
  #sortedItems: readonly StoredObject[] | undefined;
  #snapshots: readonly Snapshot[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Drops the snapshots of paged lists. */
  dropSnapshots(): void {
    this.#snapshots = [];
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  set(object: StoredObject): void {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    if (!this.#objects.has(key)) this.#sortedKeys = undefined;
    this.#sortedItems = undefined;
    this.#objects.set(key, object);
  }

  delete(key: string): void {
    if (!this.#objects.delete(key)) return;
    this.#sortedKeys = undefined;
    this.#sortedItems = undefined;
  }

  /** All objects, ordered by key. */
  items(): readonly StoredObject[] {
    if (this.#sortedItems === undefined) {
      this.#sortedKeys ??= [...this.#objects.keys()].sort(byteOrder);
      this.#sortedItems = this.#sortedKeys.flatMap((key) => this.#objects.get(key) ?? []);
    }
    return this.#sortedItems;
  }

  /**
   * One page. All pages of a list show the state at the resourceVersion of the first. A token older than `compacted` or
   * without a snapshot gets 410 Expired. `undone`: changes after `now` to leave out.
   */
  page(
    selection: Selection,
    limit: number,
    continueToken: string,
    now: number,
    compacted: number,
    undone: readonly LogEntry[] = [],
  ): Page {
    const token = continueToken === '' ? undefined : decodeToken(continueToken);
    const snapshot = token === undefined ? this.#snapshot(now, undone) : this.#recall(token.rv, compacted);
    const items: StoredObject[] = [];
    let at = token?.start ?? 0;
    while (at < snapshot.items.length && (limit === 0 || items.length < limit)) {
      const object = snapshot.items[at++];
      if (object !== undefined && selects(selection, object)) items.push(object);
    }
    while (at < snapshot.items.length && !isSelected(selection, snapshot.items[at])) at++;
    const resourceVersion = String(snapshot.resourceVersion);
    if (at >= snapshot.items.length) return { items, resourceVersion, continueToken: '' };
    this.#keep(snapshot);
    const next = encodeToken({ rv: snapshot.resourceVersion, start: at });
    if (selection.labels?.length || selection.name !== undefined || selection.namespace !== undefined)
      return { items, resourceVersion, continueToken: next };
    return { items, resourceVersion, continueToken: next, remainingItemCount: snapshot.items.length - at };
  }

  #snapshot(resourceVersion: number, undone: readonly LogEntry[]): Snapshot {
    const items = undone.length === 0 ? this.items() : this.#before(undone);
    return { resourceVersion, takenAt: this.#clock.now(), items };
  }

  /** The objects before the given changes. */
  #before(changes: readonly LogEntry[]): readonly StoredObject[] {
    const objects = new Map(this.#objects);
    for (const { object, previous } of changes.toReversed()) {
      const key = keyOf(object.metadata.namespace, object.metadata.name);
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    return [...objects].sort(([a], [b]) => byteOrder(a, b)).map(([, object]) => object);
  }

  #keep(snapshot: Snapshot): void {
    if (this.#snapshots.some((kept) => kept.resourceVersion === snapshot.resourceVersion)) return;
    this.#snapshots = [...this.#snapshots.slice(1 - maxSnapshots), snapshot];
  }

  #recall(resourceVersion: number, compacted: number): Snapshot {
    const oldest = this.#clock.now() - snapshotLifeMs;
    this.#snapshots = this.#snapshots.filter((kept) => kept.takenAt >= oldest && kept.resourceVersion >= compacted);
    const found = this.#snapshots.find((kept) => kept.resourceVersion === resourceVersion);
    if (found === undefined)
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. ' +
          'You can start a new list without the continue parameter.',
      );
    return found;
  }
}

function isSelected(selection: Selection, object: StoredObject | undefined): boolean {
  return object !== undefined && selects(selection, object);
}

/** Byte order of ASCII keys; the order of other keys does not matter. */
function byteOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface ContinueToken {
  readonly rv: number;
  readonly start: number;
}

function encodeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');
}

function decodeToken(text: string): ContinueToken {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof token === 'object' && token !== null && 'rv' in token && 'start' in token) {
      const { rv, start } = token;
      if (typeof rv === 'number' && typeof start === 'number') return { rv, start };
    }
  } catch {
    // Falls through to the error.
  }
  throw badRequest('continue key is not valid');
}
