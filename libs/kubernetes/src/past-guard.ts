import { isOlderVersion } from './resource-version.ts';
import { readerError } from './retry-delay.ts';

/** A list older than what was delivered is the past, unless it stays so: then the cluster was restored from a backup. */
const maxStaleLists = 6;
const maxSilentWatches = 2;

/**
 * Notices an API server that tells the past: a replica that lags behind, or one whose store was restored from a backup.
 * Its findings are ApiErrors; a list, which is as fresh as the store, settles which of the two it is.
 */
export class PastGuard {
  #delivered: string;
  #staleLists = 0;
  #silentWatches = 0;

  /** `delivered` is the newest version that went out so far, or empty. */
  constructor(delivered: string) {
    this.#delivered = delivered;
  }

  /** Takes note of what was delivered. */
  advance(resourceVersion: string): void {
    this.#delivered = resourceVersion;
    this.#staleLists = 0;
    this.#silentWatches = 0;
  }

  /** What a list must not be older than; empty where nothing is known, or where the past is believed. */
  get floor(): string {
    return this.#staleLists >= maxStaleLists ? '' : this.#delivered;
  }

  /** A server says that it has not come as far as `floor`. */
  countBehind(): void {
    this.#staleLists++;
  }

  /** Whether the list is fine; false if it is old, but has been so often enough to be believed. Throws if it is stale. */
  acceptList(resourceVersion: string): boolean {
    if (!isOlderVersion(resourceVersion, this.#delivered)) return true;
    if (this.#staleLists >= maxStaleLists) return false;
    this.#staleLists++;
    const message = `the list has version ${resourceVersion}, but ${this.#delivered} was seen before`;
    throw readerError('retry', 'StaleList', message);
  }

  /** Whether an event tells nothing new. */
  isOutdated(version: string, current: string): boolean {
    return version === current || isOlderVersion(version, current);
  }

  /** Throws if the bookmark shows that the server is behind `current`. */
  checkBookmark(version: string, current: string): void {
    if (!isOlderVersion(version, current)) return;
    throw readerError('gone', 'WentBack', `the server is at version ${version}, but ${current} was seen before`);
  }

  /**
   * A watch opened and then stayed silent, without even a bookmark. Throws if that happens again: so does a restored server
   * when the watch starts from a version that lies in its future.
   */
  distrustSilence(): void {
    this.#silentWatches++;
    if (this.#silentWatches < maxSilentWatches) return;
    this.#silentWatches = 0;
    throw readerError('gone', 'WentBack', 'the server opens watches but says nothing');
  }
}
