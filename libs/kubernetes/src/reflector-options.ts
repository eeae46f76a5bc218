import type { Clock, Logger, Random } from '@sluice/runtime';
import type { ApiError } from './api-error.ts';
import type { ClusterReader, RawObject, Resource, WatchEvent } from './cluster.ts';
import type { SkippedObject } from './watch-line.ts';

/**
 * Who keeps the reflected objects. Calls come one at a time and are awaited, which is the backpressure: while one runs,
 * nothing more is read. An error thrown here ends the reflector.
 */
export interface ReflectorSink<T = RawObject> {
  /** All there is, as of `resourceVersion`. What is not among it is gone. */
  replace(objects: readonly T[], resourceVersion: string): void | Promise<void>;
  /** What changed since, in order. A bookmark only says how far that is. */
  apply(events: readonly WatchEvent<T>[]): void | Promise<void>;
}

export type ReflectorState = 'listing' | 'watching' | 'retrying';

export interface ReflectorOptions<T = RawObject> {
  readonly cluster: ClusterReader;
  readonly resource: Resource;
  /**
   * Makes what the sink gets; `wholeObject` passes objects on as they are. Called at once for each object of a page or
   * batch, so that what it drops need not be held. An object for which it throws is left out and reported.
   */
  readonly decode: (object: RawObject) => T;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onState?: (state: ReflectorState, detail: string) => void;
  readonly onError?: (error: ApiError, retryInMs: number) => void;
  readonly onSkipped?: (skipped: SkippedObject) => void;
  /** Objects a page. Default 500. */
  readonly pageSize?: number;
  /**
   * Takes the first state from the watch itself (WatchList) instead of from paged lists; goes back to lists when the
   * server refuses. Only for readers that know `sendInitialEvents`. Default false.
   */
  readonly watchList?: boolean;
  /** Version that was delivered before a restart: a list that is older counts as stale. */
  readonly notOlderThan?: string;
}

export interface ReflectorStatus {
  readonly state: ReflectorState;
  /** The version up to which the sink is complete; empty before the first list. */
  readonly resourceVersion: string;
  /** When the server last told something, by `clock.monotonic()`. */
  readonly lastHeardMs: number;
  readonly lists: number;
  readonly errors: number;
  readonly skipped: number;
  /** Events dropped because they were not newer than what had been delivered. */
  readonly outdated: number;
}

export const wholeObject = (object: RawObject): RawObject => object;
