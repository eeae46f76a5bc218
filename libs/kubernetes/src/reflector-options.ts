import type { Clock, Logger, Random } from '@sluice/platform';
import type { ApiError } from './api-error.ts';
import type { ClusterReader, RawObject, Resource, SkippedObject, WatchEvent } from './cluster.ts';
import type { ListBudget } from './list-budget.ts';

/**
 * Receives the reflected objects. Calls are sequential and awaited, which applies backpressure: nothing is read
 * meanwhile. An error thrown here stops the reflector.
 */
export interface ReflectorSink<T = RawObject> {
  /** Replaces all objects with those as of `resourceVersion`. Objects not listed are deleted. */
  replace(objects: readonly T[], resourceVersion: string): void | Promise<void>;
  /** Applies events in order. A bookmark only advances the resourceVersion. */
  apply(events: readonly WatchEvent<T>[]): void | Promise<void>;
}

export type ReflectorState = 'listing' | 'watching' | 'retrying';

export interface ReflectorOptions<T = RawObject> {
  readonly cluster: ClusterReader;
  readonly resource: Resource;
  /**
   * Converts an object for the sink; `wholeObject` returns it unchanged. Called for each object as soon as it is read,
   * so unused parts need not be held. Objects for which it throws are skipped and reported.
   */
  readonly decode: (object: RawObject) => T;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onState?: (state: ReflectorState, detail: string) => void;
  /** Called for each error. Errors of an outage are then logged at level debug only. */
  readonly onError?: (error: ApiError, retryInMs: number) => void;
  readonly onSkipped?: (skipped: SkippedObject) => void;
  /** Objects per page. Default 500. */
  readonly pageSize?: number;
  /**
   * Reads the initial state from the watch (WatchList) instead of paged lists; falls back to lists if the server does
   * not support it. Only for readers with `watchList`. Default false.
   */
  readonly watchList?: boolean;
  /** Bounds the memory of lists; shared by the reflectors of a cluster. Default: no bound. */
  readonly listBudget?: ListBudget;
  /** resourceVersion delivered before a restart; an older list is stale. */
  readonly notOlderThan?: string;
}

export interface ReflectorStatus {
  readonly state: ReflectorState;
  /** resourceVersion up to which the sink is complete; empty before the first list. */
  readonly resourceVersion: string;
  /** Time of the last response or event, by `clock.monotonic()`. */
  readonly lastHeardMs: number;
  readonly lists: number;
  readonly errors: number;
  readonly skipped: number;
  /** Events dropped because they were not newer than those delivered. */
  readonly outdated: number;
}

export const wholeObject = (object: RawObject): RawObject => object;
