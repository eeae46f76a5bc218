import type { Cancel, Clock } from '@sluice/platform';
import type { EventLog, LogEntry } from './event-log.ts';
import { type StoredObject, withType } from './object.ts';
import { apiVersionOf, type ResourceInfo, type ResourceName, resources } from './resources.ts';
import { type Selection, selects } from './selection.ts';
import { expired, type Status } from './status.ts';

export const initialEventsEnd = 'k8s.io/initial-events-end';

/** A watch event as sent to clients. */
export type ServerWatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly object: BookmarkObject }
  | { readonly type: 'ERROR'; readonly object: Status };

export interface BookmarkObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
}

export interface WatchOptions extends Selection {
  /** Send events after this resourceVersion. If empty or `0`, send the current objects first, as ADDED events. */
  readonly resourceVersion?: string;
  readonly allowBookmarks?: boolean;
  /** Send the current objects first, whatever the resourceVersion; a bookmark marks their end. */
  readonly sendInitialEvents?: boolean;
  /** Number of changes that the server lags. */
  readonly behind?: number;
  /** The server ends the watch after this time; 0 or absent: never. */
  readonly timeoutMs?: number;
}

/** How the server ends a watch early. `reset`: as a broken connection does. */
export type WatchCut = 'end' | 'reset';

/** A running watch was cut off. */
export class WatchReset extends Error {
  override readonly name = 'WatchReset';
  readonly code = 'WATCH_RESET';
}

export interface WatchContext {
  readonly resource: ResourceName;
  readonly log: EventLog;
  readonly clock: Clock;
  /** The newest resourceVersion of the server. */
  readonly newest: () => number;
  readonly bookmarkIntervalMs: number;
  readonly onClose: (watch: Watch) => void;
}

const batchSize = 500;

/**
 * Reads the event log of one resource. It holds an offset, not a queue: a slow reader uses no memory, and gets an ERROR
 * event with Status 410 and the end of the watch when it falls behind the window.
 */
export class Watch {
  readonly #context: WatchContext;
  readonly #info: ResourceInfo;
  readonly #selection: Selection;
  readonly #allowBookmarks: boolean;
  readonly #cancelTimeout: Cancel | undefined;
  #cancelBookmark: Cancel | undefined;
  #initial: readonly StoredObject[];
  #initialAt = 0;
  #position: number;
  #bookmark: 'none' | 'due' | 'initialEventsEnd' = 'none';
  #ended: WatchCut | undefined;
  #wake: (() => void) | undefined;
  #left = Number.POSITIVE_INFINITY;
  #cutHow: WatchCut = 'end';

  /** `initial`: objects to report as ADDED before events after `position`. */
  constructor(
    context: WatchContext,
    options: WatchOptions,
    position: number,
    initial: readonly StoredObject[] | undefined,
  ) {
    this.#context = context;
    this.#info = resources[context.resource];
    this.#selection = options;
    this.#allowBookmarks = options.allowBookmarks === true;
    this.#position = position;
    this.#initial = initial ?? [];
    if (options.sendInitialEvents && this.#allowBookmarks) this.#bookmark = 'initialEventsEnd';
    if (this.#allowBookmarks && context.bookmarkIntervalMs > 0) this.#scheduleBookmark();
    if (options.timeoutMs) this.#cancelTimeout = context.clock.schedule(options.timeoutMs, () => this.cut('end'));
  }

  /** Waits for the next events. Undefined when the watch has ended. Throws WatchReset if it was cut off. */
  async next(): Promise<readonly ServerWatchEvent[] | undefined> {
    for (;;) {
      if (this.#ended === 'reset') throw new WatchReset('connection reset');
      if (this.#ended === 'end') return undefined;
      if (this.#left <= 0) {
        this.cut(this.#cutHow);
        continue;
      }
      const events = this.take().slice(0, this.#left);
      this.#left -= events.length;
      if (events.length > 0) return events;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The available events, at most one batch. */
  take(): readonly ServerWatchEvent[] {
    if (this.#initialAt < this.#initial.length) return this.#takeInitial();
    const { log, newest } = this.#context;
    if (this.#position < log.compacted) return [this.#tooOld()];
    const entries = log.after(this.#position, batchSize);
    const events = entries.flatMap((entry) => this.#eventOf(entry) ?? []);
    const last = entries[entries.length - 1];
    if (last !== undefined) this.#position = last.resourceVersion;
    if (entries.length === batchSize) return events.length > 0 ? events : this.take();
    this.#position = Math.max(this.#position, newest());
    return this.#bookmark === 'none' ? events : [...events, this.#takeBookmark()];
  }

  /** Called when events may have arrived. */
  notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Called before a compaction: a reader that has read everything moves along and is not behind. */
  catchUp(): void {
    const { log, newest } = this.#context;
    const behind = this.#position < log.compacted || log.after(this.#position, 1).length > 0;
    if (!behind) this.#position = Math.max(this.#position, newest());
  }

  /**
   * Sends a bookmark after all earlier events, if the client asked for bookmarks. A watch that starts in the future of a
   * restored server gets none, as from kube-apiserver.
   */
  sendBookmark(): void {
    if (!this.#allowBookmarks || this.#context.newest() < this.#position) return;
    if (this.#bookmark === 'none') this.#bookmark = 'due';
    this.notify();
  }

  /** Ends the watch from the server's side. Unread events are lost, as in a broken connection. */
  cut(how: WatchCut): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    this.#cancelTimeout?.();
    this.#cancelBookmark?.();
    this.#context.onClose(this);
    this.notify();
  }

  /** Cuts the watch after this many more events. */
  cutAfter(events: number, how: WatchCut): void {
    this.#left = events;
    this.#cutHow = how;
    this.notify();
  }

  /** Called when the client closes the watch. */
  close(): void {
    this.cut('end');
  }

  #takeInitial(): readonly ServerWatchEvent[] {
    const batch = this.#initial.slice(this.#initialAt, this.#initialAt + batchSize);
    this.#initialAt += batch.length;
    if (this.#initialAt >= this.#initial.length) this.#initial = [];
    return batch.map((object) => ({ type: 'ADDED', object: withType(this.#info, object) }));
  }

  /** An object that starts or stops matching the selector is ADDED or DELETED for this watch. */
  #eventOf(entry: LogEntry): ServerWatchEvent | undefined {
    const now = entry.type !== 'DELETED' && selects(this.#selection, entry.object);
    const before = entry.previous !== undefined && selects(this.#selection, entry.previous);
    if (!now && !before) return undefined;
    const type = now ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED';
    return { type, object: withType(this.#info, entry.object) };
  }

  #takeBookmark(): ServerWatchEvent {
    const annotations = this.#bookmark === 'initialEventsEnd' ? { [initialEventsEnd]: 'true' } : undefined;
    this.#bookmark = 'none';
    const info = this.#info;
    const metadata = { resourceVersion: String(this.#position), ...(annotations ? { annotations } : {}) };
    return { type: 'BOOKMARK', object: { kind: info.kind, apiVersion: apiVersionOf(info), metadata } };
  }

  #tooOld(): ServerWatchEvent {
    const error = expired(`too old resource version: ${this.#position} (${this.#context.log.compacted})`);
    this.cut('end');
    return { type: 'ERROR', object: error.status };
  }

  #scheduleBookmark(): void {
    const { clock, bookmarkIntervalMs } = this.#context;
    this.#cancelBookmark = clock.schedule(bookmarkIntervalMs, () => {
      this.sendBookmark();
      this.#scheduleBookmark();
    });
  }
}
